use super::*;

fn file(name: &str) -> String {
    format!("{}/../../spec/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn what_a_url_says_about_tls_is_taken_out_of_it() {
    let (url, wish) = split("postgres://db/x?sslmode=verify-full&application_name=a&sslrootcert=%2Fa%20b.pem&sslkey=50%");
    assert_eq!(url, "postgres://db/x?application_name=a");
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(wish, Wish { mode: some("verify-full"), authorities: some("/a b.pem"), certificate: None, key: some("50%") });
    assert_eq!(split("postgres://db/x?sslmode=require").0, "postgres://db/x");
    assert_eq!(split("postgres://db/x"), ("postgres://db/x".to_owned(), Wish::default()));
}

#[test]
fn what_cannot_be_granted_is_told() {
    for (query, why) in [
        ("sslmode=sometimes", "use disable, prefer, require, verify-ca or verify-full"),
        ("sslmode=verify-full&sslrootcert=/nowhere", "sslrootcert /nowhere"),
        (&format!("sslmode=verify-ca&sslrootcert={}", file("server.key")), "has no certificate in PEM"),
        (&format!("sslmode=require&sslcert={}", file("client.crt")), "sslcert and sslkey go together"),
    ] {
        let told = split(&format!("postgres://db/x?{query}")).1.granted().err().unwrap();
        assert!(told.contains(why), "{told}");
    }
    assert!(matches!(Wish::default().granted(), Ok((SslMode::Prefer, _))));
}

/// Who is believed to be the database at `localhost`, by mode and certificate.
#[test]
fn the_stricter_the_mode_the_fewer_servers_are_believed() {
    let believed = |query: &str, certificate: &str| {
        let wish = split(&format!("postgres://db/x?{query}&sslrootcert={}", file("authority.crt"))).1;
        let provider = Arc::new(crypto::ring::default_provider());
        let check = match query {
            "sslmode=verify-full" => Check::AuthorityAndName,
            "sslmode=verify-ca" => Check::Authority,
            _ => Check::Nothing,
        };
        let verifier = wish.verifier(check, &provider).unwrap();
        let shown = CertificateDer::from_pem_file(file(certificate)).unwrap();
        verifier.verify_server_cert(&shown, &[], &ServerName::try_from("localhost").unwrap(), &[], UnixTime::now()).is_ok()
    };
    for (query, expected) in [
        ("sslmode=prefer", [true, true, true]),
        ("sslmode=verify-ca", [true, true, false]),
        ("sslmode=verify-full", [true, false, false]),
    ] {
        let shown = ["server.crt", "elsewhere.crt", "imposter.crt"].map(|certificate| believed(query, certificate));
        assert_eq!(shown, expected, "{query}");
    }
}
