//! The software bill of materials: every crate in the binary, with its version and licence, as SPDX 2.3.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::logged;
use crate::places::Places;

const TREE_MAX: Duration = Duration::from_secs(120);
const SEPARATOR: &str = " | ";

pub(super) fn write(places: &Places, target: &str, version: &str, out: &Path) -> Result<PathBuf, String> {
    let mut cargo = places.cargo();
    cargo.args(["tree", "--package", "app", "--edges", "normal", "--prefix", "none", "--no-dedupe", "--target", target]);
    cargo.args(["--format", &format!("{{p}}{SEPARATOR}{{l}}")]);
    let tree = logged::must(&mut cargo, &places.log("dist-tree"), TREE_MAX)?;
    let crates = crates(&tree);
    if crates.len() < 10 {
        return Err(format!("cargo tree names {} crates only", crates.len()));
    }
    let made = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let path = out.join(format!("caudal-{version}.spdx.json"));
    let text = format!("{:#}\n", bill(version, &crates, &date(made)));
    fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

/// Name, version and licence of each, once.
fn crates(tree: &str) -> Vec<(&str, &str, &str)> {
    let mut crates: Vec<_> = tree
        .lines()
        .filter_map(|line| {
            let (named, license) = line.split_once(SEPARATOR)?;
            let mut words = named.split(' ');
            Some((words.next()?, words.next()?.strip_prefix('v')?, license.trim()))
        })
        .collect();
    crates.sort_unstable();
    crates.dedup();
    crates
}

fn bill(version: &str, crates: &[(&str, &str, &str)], made: &str) -> Value {
    let id = |name: &str, version: &str| format!("SPDXRef-{name}-{version}").replace(['_', '+'], "-");
    let package = |(name, version, license): &(&str, &str, &str)| {
        let license = if license.is_empty() { "NOASSERTION" } else { license };
        json!({
            "SPDXID": id(name, version),
            "name": if *name == "app" { "caudal" } else { name },
            "versionInfo": version,
            "licenseDeclared": license.split('/').map(str::trim).collect::<Vec<_>>().join(" OR "),
            "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION",
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": false,
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": format!("pkg:cargo/{name}@{version}"),
            }],
        })
    };
    let contains = crates.iter().filter(|(name, ..)| *name != "app").map(|(name, other, _)| {
        json!({ "spdxElementId": id("app", version), "relationshipType": "DEPENDS_ON", "relatedSpdxElement": id(name, other) })
    });
    let describes =
        json!({ "spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": id("app", version) });
    json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": format!("caudal-{version}"),
        "documentNamespace": format!("https://caudal.example/spdx/caudal-{version}-{made}"),
        "creationInfo": { "created": made, "creators": ["Tool: cargo xtask dist"] },
        "packages": crates.iter().map(package).collect::<Vec<_>>(),
        "relationships": std::iter::once(describes).chain(contains).collect::<Vec<_>>(),
    })
}

/// Seconds since 1970 as a date in UTC.
fn date(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Counted in years that begin in March, so that the day that comes and goes is the last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(1_767_225_600), "2026-01-01T00:00:00Z");
    }

    #[test]
    fn crates_are_named_once() {
        let tree =
            "app v0.1.0 (/somewhere) | Apache-2.0\nbytes v1.2.3 | MIT\nbytes v1.2.3 | MIT\nother v2.0.0 | MIT / Apache-2.0\n";
        let crates = crates(tree);
        assert_eq!(crates, [("app", "0.1.0", "Apache-2.0"), ("bytes", "1.2.3", "MIT"), ("other", "2.0.0", "MIT / Apache-2.0")]);
        let bill = bill("0.1.0", &crates, "2026-01-01T00:00:00Z");
        assert_eq!(bill["packages"][0]["name"], "caudal");
        assert_eq!(bill["packages"][2]["licenseDeclared"], "MIT OR Apache-2.0");
        assert_eq!(bill["relationships"].as_array().map(Vec::len), Some(3));
    }
}
