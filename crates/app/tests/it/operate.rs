//! What an operator types when something is stuck, against a running server.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::broker::ports;
use crate::server::{self, Server, example};
use serde_json::{Value, json};

/// A script that needs `rate`, behind a service task.
const PRICED: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <process id="priced" isExecutable="true">
    <startEvent id="in"/><sequenceFlow id="f1" sourceRef="in" targetRef="price"/>
    <subProcess id="price">
      <startEvent id="begin"/><sequenceFlow id="f3" sourceRef="begin" targetRef="look-up"/>
      <serviceTask id="look-up">
        <extensionElements>
          <zeebe:taskDefinition type="look-up"/>
          <zeebe:ioMapping><zeebe:input source="=assert(rate, rate != null)" target="factor"/></zeebe:ioMapping>
        </extensionElements>
      </serviceTask>
    </subProcess>
    <boundaryEvent id="late" attachedToRef="price"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>
    <sequenceFlow id="f4" sourceRef="late" targetRef="out"/>
    <sequenceFlow id="f2" sourceRef="price" targetRef="out"/><endEvent id="out"/>
  </process>
</definitions>"#;

fn with_priced() -> (Server, tempfile::TempDir) {
    let (server, folder) = (Server::start("memory:"), tempfile::tempdir().unwrap());
    let file = folder.path().join("priced.bpmn");
    std::fs::write(&file, PRICED).unwrap();
    server.caudal(&["deploy", file.to_str().unwrap()]).done();
    (server, folder)
}

fn started(server: &Server, words: &[&str]) -> String {
    server.caudal(&[&["start"], words].concat()).done().trim().to_owned()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn an_incident_is_found_looked_at_mended_and_resolved() {
    let (server, _folder) = with_priced();
    let key = started(&server, &["priced"]);
    let listed = server.caudal(&["incidents", "--process", "priced", "--type", "io-mapping-error"]).done();
    assert!(listed.contains("IO_MAPPING_ERROR") && listed.contains("look-up") && listed.contains(&key), "{listed}");
    let incidents = server.json(&["incidents", "--instance", &key, "--element", "look-up"]);
    assert_eq!(incidents["items"].as_array().unwrap().len(), 1);
    let incident = text(&incidents["items"][0]["incidentKey"]).to_owned();
    let nowhere = server.json(&["incidents", "--instance", &key, "--element", "price"]);
    assert_eq!(nowhere["items"], json!([]));

    let tree = server.caudal(&["instance", &key]).done();
    assert!(tree.starts_with(&format!("{key} priced version 1  ACTIVE, with incidents\n")), "{tree}");
    assert!(tree.contains("├─ in  START_EVENT  COMPLETED") && tree.contains("└─ price  SUB_PROCESS  ACTIVE"), "{tree}");
    assert!(tree.contains("   └─ look-up  SERVICE_TASK  ACTIVE"), "{tree}");
    assert!(tree.contains(&format!("! incident {incident} IO_MAPPING_ERROR: ")) && tree.contains(" late  due 20"), "{tree}");

    let refused = server.caudal(&["incident", "resolve", &incident, "77"]);
    assert_eq!((refused.out, refused.code), (format!("{incident} resolved\n"), Some(1)));
    assert!(refused.err.contains("77: 404 NOT_FOUND") && refused.err.contains("1 of 2 not resolved"), "{}", refused.err);
    let again = server.json(&["incidents", "--instance", &key]);
    let incident = text(&again["items"][0]["incidentKey"]).to_owned();

    server.caudal_given(&["variables", "set", &key, "-"], r#"{"rate": 3, "spare": [1, {"a": null}]}"#).done();
    assert_eq!(server.json(&["variables", "get", &key]), json!({ "rate": 3, "spare": [1, { "a": null }] }));
    assert_eq!(server.json(&["variables", "get", &key, "spare"]), json!({ "spare": [1, { "a": null }] }));
    let missing = server.caudal(&["variables", "get", &key, "other"]);
    assert!(missing.err.contains("has no variable 'other' of its own") && missing.code == Some(1), "{}", missing.err);
    let resolved = server.json(&["incident", "resolve", &incident]);
    assert_eq!(resolved, json!([{ "key": incident, "done": true, "reason": null }]));
    assert_eq!(server.json(&["incidents"])["items"], json!([]));
    assert_eq!(server.json(&["incidents", "--state", "all"])["items"].as_array().unwrap().len(), 2);
    let tree = server.caudal(&["instance", &key, "--active"]).done();
    assert!(!tree.contains("START_EVENT") && tree.contains("look-up  CREATED, 3 tries") && tree.contains("factor = 3"), "{tree}");
    assert_eq!(server.json(&["instance", &key])["elements"]["total"], json!(2));
}

#[test]
fn a_job_without_tries_gets_some_and_the_way_on_is_told() {
    let (server, _folder) = with_priced();
    let key = started(&server, &["priced", "--variables", r#"{"rate": 1}"#]);
    let job = text(&server.json(&["jobs", "--type", "look-up"])["items"][0]["jobKey"]).to_owned();
    let failing = json!({ "retries": 0, "errorMessage": "no such item" });
    server.caudal(&["work", "look-up", "--count", "1"]).done();
    post(&server, &format!("/v2/jobs/{job}/failure"), &failing);
    let incident = text(&server.json(&["incidents"])["items"][0]["incidentKey"]).to_owned();
    let given = server.caudal(&["retries", &job, "2"]);
    assert_eq!((given.out, given.code), (format!("{job} has 2 tries\n"), Some(0)));
    assert!(given.err.contains(&format!("caudal incident resolve {incident}")), "{}", given.err);
    server.caudal(&["incident", "resolve", &incident]).done();
    let zero = server.caudal(&["retries", &job, "0"]);
    assert!(zero.code == Some(2) && zero.err.contains("0 is not in 1.."), "{}", zero.err);
    server.caudal(&["work", "look-up", "--count", "1", "--complete-with", "{}"]).done();
    assert!(server.caudal(&["instance", &key]).done().contains("COMPLETED"));
}

#[test]
fn what_is_being_undone_is_shown() {
    let server = Server::start("memory:");
    server.caudal(&["deploy", &example("purchase.bpmn"), &example("reserve-item.bpmn")]).done();
    server.caudal(&["publish", "payment", "--key", "o", "--ttl", "PT1H"]).done();
    let key = started(&server, &["purchase", "--variables", r#"{"orderId": "o", "items": ["mug"]}"#]);
    server.caudal(&["work", "reserve-item", "--count", "1", "--complete-with", r#"{"shelf": 4}"#]).done();
    let job = text(&server.json(&["jobs", "--type", "ship-order"])["items"][0]["jobKey"]).to_owned();
    post(&server, &format!("/v2/jobs/{job}/error"), &json!({ "errorCode": "NO_CARRIER" }));
    let tree = server.caudal(&["instance", &key]).done();
    assert!(
        tree.contains("└─ back  INTERMEDIATE_THROW_EVENT  ACTIVE") && tree.contains("   └─ release  SERVICE_TASK  ACTIVE"),
        "{tree}"
    );
    assert!(tree.contains("release-items  CREATED, 3 tries"), "{tree}");
}

const WAITING: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <signal id="s" name="go"/>
  <message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=&quot;o-1&quot;"/></extensionElements></message>
  <process id="waiting" isExecutable="true">
    <startEvent id="in"/><sequenceFlow id="f0" sourceRef="in" targetRef="which"/>
    <eventBasedGateway id="which"/>
    <sequenceFlow id="f1" sourceRef="which" targetRef="told"/>
    <intermediateCatchEvent id="told"><signalEventDefinition signalRef="s"/></intermediateCatchEvent>
    <sequenceFlow id="f2" sourceRef="which" targetRef="paid"/>
    <intermediateCatchEvent id="paid"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>
    <sequenceFlow id="f3" sourceRef="which" targetRef="rich"/>
    <intermediateCatchEvent id="rich">
      <conditionalEventDefinition><condition>=balance &gt; 10</condition></conditionalEventDefinition>
    </intermediateCatchEvent>
  </process>
</definitions>"#;

#[test]
fn what_an_instance_waits_for_is_shown() {
    let (server, folder) = (Server::start("memory:"), tempfile::tempdir().unwrap());
    let file = folder.path().join("waiting.bpmn");
    std::fs::write(&file, WAITING).unwrap();
    server.caudal(&["deploy", file.to_str().unwrap()]).done();
    let key = started(&server, &["waiting", "--variables", r#"{"balance": 1}"#]);
    let tree = server.caudal(&["instance", &key]).done();
    for awaited in ["signal 'go'  awaited", "message 'paid' with key 'o-1'  awaited", "condition of rich  awaited"] {
        assert!(tree.contains(awaited), "{tree}");
    }
    assert_eq!(server.json(&["instance", &key])["waits"]["total"], json!(3));
    server.caudal(&["signal", "go"]).done();
    assert_eq!(server.json(&["instance", &key])["waits"]["items"], json!([]));
}

#[test]
fn instances_are_cancelled_and_what_is_deployed_is_deleted() {
    let (server, _folder) = with_priced();
    server.caudal(&["deploy", &example("purchase.bpmn"), &example("reserve-item.bpmn"), &example("shipping.dmn")]).done();
    server.caudal(&["publish", "payment", "--key", "o", "--ttl", "PT1H"]).done();
    let key = started(&server, &["purchase", "--variables", r#"{"orderId": "o", "items": ["mug"]}"#]);
    let tree = server.caudal(&["instance", &key]).done();
    assert!(tree.contains("reserve  MULTI_INSTANCE_BODY  ACTIVE"), "{tree}");
    let called = text(&server.json(&["instance", &key])["called"]["items"][0]["processInstanceKey"]).to_owned();
    assert!(tree.contains(&format!("called {called} reserve-item  ACTIVE")), "{tree}");
    assert!(server.caudal(&["instance", &called]).done().contains(&format!("called by {key}")));

    let definitions = server.json(&["definitions", "purchase", "--latest"]);
    let definition = text(&definitions["items"][0]["processDefinitionKey"]).to_owned();
    let running = server.caudal(&["delete", &definition]);
    assert!(running.code == Some(1) && running.err.contains("1 of 1 not deleted"), "{}", running.err);
    assert_eq!(server.caudal(&["cancel", &key]).done(), format!("{key} cancelled\n"));
    assert_eq!(server.caudal(&["delete", &definition]).done(), format!("{definition} deleted\n"));
    assert_eq!(server.json(&["definitions", "purchase"])["items"], json!([]));
    let table = server.caudal(&["definitions"]).done();
    assert!(table.contains("priced") && table.contains("reserve-item"), "{table}");
    assert!(server.caudal(&["definitions", "--decisions", "--latest"]).done().contains("shipping"));
    let twice = server.caudal(&["cancel", &key, "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&twice.out).unwrap()[0]["done"], json!(false));
    assert_eq!(twice.code, Some(1));
}

#[test]
fn a_start_that_waits_tells_the_key_and_the_end() {
    let (server, folder) = with_priced();
    server.caudal(&["deploy", &example("order.bpmn")]).done();
    let late = server.caudal(&["start", "order", "--await", "--timeout", "0"]);
    let key = late.out.trim().to_owned();
    assert!(late.code == Some(1) && late.err.contains(&format!("Next: caudal instance {key}")), "{}{}", late.out, late.err);
    let stuck = server.caudal(&["start", "priced", "--await", "--timeout", "0", "--json"]);
    let key = serde_json::from_str::<Value>(&stuck.out).unwrap()["processInstanceKey"].as_str().unwrap().to_owned();
    assert!(stuck.err.contains(&format!("is stuck. Next: caudal incidents --instance {key}")), "{}", stuck.err);

    let file = folder.path().join("order.json");
    std::fs::write(&file, r#"{"amount": 250}"#).unwrap();
    let given = format!("@{}", file.display());
    let mut worker = Command::new(env!("CARGO_BIN_EXE_caudal"));
    let worker =
        worker.args(["work", "charge-card", "--complete-with", r#"{"paid": true}"#, "--count", "2", "--url", &server.url()]);
    let mut worker = worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let ended = server.caudal(&["start", "order", "--variables", &given, "--await"]).done();
    assert!(worker.wait().unwrap().success());
    let (_, variables) = ended.split_once('\n').unwrap();
    let variables: Value = serde_json::from_str(variables).unwrap();
    assert_eq!(variables, json!({ "amount": 250, "paid": true, "gift": "mug" }));
    let no_file = server.caudal(&["start", "order", "--variables", "@/nowhere/x.json"]);
    assert!(no_file.err.contains("--variables: cannot read /nowhere/x.json"), "{}", no_file.err);
}

#[test]
fn a_worker_goes_on_when_its_server_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&format!("sqlite:{}", folder.path().display()));
    server.caudal(&["deploy", &example("order.bpmn")]).done();
    let mut worker = Command::new(env!("CARGO_BIN_EXE_caudal"));
    worker.args(["work", "charge-card", "--complete-with", "{}", "--count", "2", "--url", &server.url()]);
    let mut worker = worker.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(worker.stderr.take().unwrap()).lines();
    let mut done = BufReader::new(worker.stdout.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().contains("waiting for jobs"));
    started(&server, &["order", "--variables", r#"{"amount": 5}"#]);
    assert!(done.next().unwrap().unwrap().contains("charge"));
    server.kill();
    let away = said.next().unwrap().unwrap();
    assert!(away.contains("trying again until it answers"), "{away}");
    server.run();
    started(&server, &["order", "--variables", r#"{"amount": 5}"#]);
    assert!(done.next().unwrap().unwrap().contains("charge"));
    assert!(worker.wait().unwrap().success());
    assert!(said.next().unwrap().unwrap().contains("the server answers again"));
    let completed = server.json(&["instances", "--state", "completed"]);
    assert_eq!(completed["items"].as_array().unwrap().len(), 2);
}

#[test]
fn one_thing_is_done_to_many_and_all_of_a_process_stand_still() {
    let (server, _folder) = with_priced();
    let keys: Vec<String> = (0..3).map(|_| started(&server, &["priced", "--variables", r#"{"rate": 1}"#])).collect();
    let suspended = server.caudal(&["suspend", "--definition", "priced"]).done();
    assert!(suspended.ends_with(" completed: 3 of 3 done, 0 failed\n"), "{suspended}");
    assert!(server.caudal(&["instances", "--state", "suspended"]).done().contains(&keys[2]));
    assert_eq!(server.caudal(&["resume", &keys[0]]).done(), format!("{} resumed\n", keys[0]));
    let again = server.caudal(&["resume", &keys[0]]);
    assert!(again.code == Some(1) && again.err.contains("409 INVALID_STATE"), "{}", again.err);
    let resumed = server.json(&["resume", "--definition", "priced"]);
    assert_eq!((&resumed["state"], &resumed["operationsCompletedCount"]), (&json!("COMPLETED"), &json!(2)));

    let nowhere = server.caudal(&["batch", "modify", "--definition", "priced", "--move", "look-up=nowhere"]);
    assert!(nowhere.code == Some(1) && nowhere.err.contains("3 failed: see `caudal batch items "), "{}", nowhere.err);
    let listed = server.json(&["batch", "list", "--state", "completed"]);
    let key = text(&listed["items"][0]["batchOperationKey"]).to_owned();
    assert!(server.caudal(&["batch", "items", &key, "--state", "failed"]).done().contains("INVALID_ARGUMENT"));
    assert!(server.caudal(&["batch", "wait", &key]).err.contains("3 failed"));
    let begun = server.caudal(&["batch", "cancel", "--instance", &keys[0], "--instance", &keys[1], "--detach"]).done();
    server.caudal(&["batch", "wait", begun.trim()]).done();
    let late = server.caudal(&["batch", "stop", begun.trim()]);
    assert!(late.code == Some(1) && late.err.contains("COMPLETED"), "{}", late.err);
    assert!(server.caudal(&["batch", "cancel"]).err.contains("say which instances"));
    assert_eq!(server.caudal(&["delete", "--instances", &keys[0]]).done(), format!("{} deleted\n", keys[0]));
    let gone = server.caudal(&["batch", "delete", "--filter", r#"{"processDefinitionId": "priced"}"#]).done();
    assert!(gone.contains("1 of 1 done"), "{gone}");
    assert_eq!(server.json(&["instances"])["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_worker_whose_server_was_never_there_says_so() {
    let [nobody, ..] = ports::addresses();
    let worker = server::caudal(&["work", "x", "--url", &format!("http://{nobody}")]);
    assert!(worker.code == Some(1) && worker.err.contains("Is the server running (`caudal serve`)?"), "{}", worker.err);
}

#[test]
fn who_asks_at_a_wrong_address_is_told_so() {
    let server = Server::start("memory:");
    for (url, advice) in [
        (format!("http://{}", server.metrics), "Is this the REST address of a server?"),
        (format!("http://{}", server.grpc), "if this is its port of gRPC, ask that of REST"),
        (server.rest.to_string(), "An address is written as http://"),
    ] {
        let refused = server::caudal(&["status", "--url", &url]);
        assert!(refused.code == Some(1) && refused.err.contains(advice), "{}", refused.err);
    }
}

#[test]
fn every_command_that_talks_to_a_server_prints_json_and_is_told_which_server() {
    const ALONE: [&str; 10] = ["serve", "config", "completions", "man", "restore", "check", "feel", "decide", "bench", "help"];
    let commands = |words: &[&str]| -> Vec<String> {
        let help = server::caudal(&[words, &["--help"]].concat()).done();
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let named = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        named.map(|line| line.split_whitespace().next().unwrap().to_owned()).filter(|name| name != "help").collect()
    };
    let mut seen = 0;
    for command in commands(&[]).iter().filter(|command| !ALONE.contains(&command.as_str())) {
        let inner = commands(&[command]);
        let spellings: Vec<Vec<&str>> = match inner.is_empty() {
            true => vec![vec![command]],
            false => inner.iter().map(|inner| vec![command.as_str(), inner]).collect(),
        };
        for words in spellings {
            let help = server::caudal(&[&words[..], &["--help"]].concat()).done();
            assert!(help.contains("--json") && help.contains("--url <URL>"), "{words:?}");
            seen += 1;
        }
    }
    assert!(20 < seen, "{seen}");
}

#[test]
fn an_incident_is_a_line_in_the_log_with_the_keys_to_look_for() {
    let folder = tempfile::tempdir().unwrap();
    let (log, file) = (folder.path().join("log"), folder.path().join("priced.bpmn"));
    std::fs::write(&file, PRICED).unwrap();
    let [rest, grpc, metrics] = ports::addresses().map(|address| address.to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args([
        "serve",
        "--store",
        "memory:",
        "--log-format",
        "json",
        "--rest",
        &rest,
        "--grpc",
        &grpc,
        "--metrics",
        &metrics,
    ]);
    let mut child = command.stdout(Stdio::piped()).stderr(std::fs::File::create(&log).unwrap()).spawn().unwrap();
    let ready = BufReader::new(child.stdout.take().unwrap()).lines().next();
    let url = format!("http://{rest}");
    let caudal = |words: &[&str]| server::caudal(&[words, &["--url", &url]].concat());
    let ran = ready.map(|_| {
        caudal(&["deploy", file.to_str().unwrap()]);
        let key = caudal(&["start", "priced"]).out.trim().to_owned();
        (key, caudal(&["incidents", "--json"]).out)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let (key, incidents) = ran.unwrap();
    let incidents: Value = serde_json::from_str(&incidents).unwrap();
    let log = std::fs::read_to_string(&log).unwrap();
    let line = log.lines().find(|line| line.contains("an incident was raised")).expect(&log);
    let fields = &serde_json::from_str::<Value>(line).unwrap()["fields"];
    let incident = &incidents["items"][0];
    let keys =
        [("instance", &*key), ("incident", text(&incident["incidentKey"])), ("element", text(&incident["elementInstanceKey"]))];
    for (field, expected) in keys {
        assert_eq!(fields[field].to_string(), expected, "{line}");
    }
    assert_eq!(fields["kind"], "IO_MAPPING_ERROR");
}

/// What has no command.
fn post(server: &Server, path: &str, body: &Value) {
    let sent = ureq::post(format!("{}{path}", server.url())).send_json(body);
    assert!(sent.unwrap().status().is_success());
}

#[test]
#[cfg(target_os = "linux")]
fn whoever_starts_it_as_a_service_hears_when_it_is_ready() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let name = format!("caudal-test-{}", std::process::id());
    let named = UnixDatagram::bind(&path).unwrap();
    let unnamed = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let mut server = Server::start("memory:");
    for (manager, socket) in [(named, path.to_str().unwrap()), (unnamed, &format!("@{name}"))] {
        server.kill();
        manager.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let mut child = server.command().env("NOTIFY_SOCKET", socket).stdout(Stdio::null()).spawn().unwrap();
        let mut told = [0; 64];
        let length = manager.recv(&mut told).unwrap();
        assert_eq!(&told[..length], b"READY=1");
        server.caudal(&["status"]).done();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
