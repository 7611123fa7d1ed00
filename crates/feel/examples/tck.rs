use feel::*;
use std::collections::BTreeMap;
fn main() {
    let text = std::fs::read_to_string("/tmp/tck.jsonl").unwrap();
    let now = Now::utc(1_767_225_600_000);
    let (mut good, mut bad) = (0, 0);
    let mut by: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for line in text.lines() {
        let v = Value::from_json(line).unwrap();
        let c = v.as_context().unwrap();
        let s = |k: &str| c.get(k).and_then(Value::as_str).unwrap_or("").to_owned();
        let mut names = Names::default();
        for n in c.get("names").unwrap().as_list().unwrap() {
            names.add(n.as_str().unwrap());
        }
        let mut inputs = Vec::new();
        for (k, e) in c.get("inputs").unwrap().as_context().unwrap().entries() {
            names.add(k);
            let v = parse_with(e.as_str().unwrap(), Dialect::Dmn).unwrap().evaluate_in(&Context::empty(), &now).unwrap();
            inputs.push((k.clone(), v));
        }
        let ctx = Context::from(inputs);
        let ours = match parse_in(&s("expr"), Dialect::Dmn, &names) {
            Err(e) => {
                if c.get("error") == Some(&Value::Bool(true)) {
                    Ok(Value::Null)
                } else {
                    Err(format!("parse: {e}"))
                }
            }
            Ok(p) => p.evaluate_in(&ctx, &now).map_err(|e| e.to_string()),
        };
        let ours = match ours {
            Err(e) if c.get("error") == Some(&Value::Bool(true)) => {
                let _ = e;
                Ok(Value::Null)
            }
            o => o,
        };
        let want = parse_with(&s("expected"), Dialect::Dmn).and_then(|p| Ok(p.evaluate_in(&Context::empty(), &now).unwrap()));
        let entry = by.entry(s("suite")).or_default();
        let same = match (&ours, &want) {
            (Ok(a), Ok(b)) => close(a, b),
            _ => false,
        };
        if same {
            good += 1;
            entry.0 += 1;
        } else {
            bad += 1;
            entry.1 += 1;
            println!(
                "{} {} {} | {} | want {} | ours {} | camunda {}",
                s("suite"),
                s("case"),
                s("node"),
                s("expr").trim().replace('\n', " "),
                s("expected"),
                match &ours {
                    Ok(v) => v.to_string(),
                    Err(e) => e.clone(),
                },
                s("camunda")
            );
        }
    }
    for (k, (g, b)) in by {
        if b > 0 {
            println!("{k}: {g} good {b} bad");
        }
    }
    println!("good {good} bad {bad}");
}
fn close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let d = (a.to_f64() - b.to_f64()).abs();
            a == b || d < 1e-8 * 1.0f64.max(b.to_f64().abs())
        }
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.items().iter().zip(b.items()).all(|(a, b)| close(a, b)),
        (Value::Context(a), Value::Context(b)) => {
            a.len() == b.len() && a.entries().iter().all(|(k, v)| b.get(k).is_some_and(|o| close(v, o)))
        }
        _ => a == b,
    }
}
