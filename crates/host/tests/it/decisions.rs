//! Decisions through a real host on the memory store: deploy, evaluate, delete, restart.

use crate::server::{Server, TENANT, caller, memory};
use engine::{DecisionKey, Document, RequirementsKey};
use host::{Error, Host};
use store::log::{
    Answer, Code, Command, DecisionRef, Deploy, DeployResource, Deployed, DeployedRequirements, Evaluate, Evaluated, Request,
};
use store::query::{Entity, EvaluatedDecisionView, Items, Query, Tenants};

/// A file of two decisions: `fee` is a table over `base`, which is an expression.
fn fees(factor: u32) -> String {
    file(
        "fees",
        &format!(
            r##"<decision id="base" name="Base"><literalExpression><text>amount * {factor}</text></literalExpression></decision>
<decision id="fee" name="Fee"><informationRequirement id="n"><requiredDecision href="#base"/></informationRequirement>
  <decisionTable id="t"><input id="in" label="Input"><inputExpression id="ie"><text>base</text></inputExpression></input>
    <output id="out" name="cost" label="Output"/>
    <rule id="small"><inputEntry id="a"><text>&lt; 100</text></inputEntry><outputEntry id="b"><text>5</text></outputEntry></rule>
    <rule id="big"><inputEntry id="c"><text>&gt;= 100</text></inputEntry><outputEntry id="d"><text>1</text></outputEntry></rule>
  </decisionTable></decision>"##
        ),
    )
}

fn file(id: &str, decisions: &str) -> String {
    format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="{id}" name="Rules" namespace="t">{decisions}</definitions>"#
    )
}

fn literal(id: &str, text: &str) -> String {
    format!(r#"<decision id="{id}" name="{id}"><literalExpression><text>{text}</text></literalExpression></decision>"#)
}

async fn submit(host: &Host, command: Command) -> Result<Answer, Error> {
    host.submit(Request { caller: caller(), command, idempotency: None }).await
}

async fn deploy_all(host: &Host, files: &[(&str, &str)]) -> Result<Deployed, Error> {
    let resource = |(name, xml): &(&str, &str)| DeployResource { name: (*name).into(), content: xml.as_bytes().into() };
    let resources = files.iter().map(resource).collect();
    match submit(host, Command::Deploy(Deploy { tenant: TENANT.into(), resources })).await? {
        Answer::Deployed(deployed) => Ok(deployed),
        other => panic!("{other:?}"),
    }
}

async fn deploy(host: &Host, name: &str, xml: &str) -> DeployedRequirements {
    deploy_all(host, &[(name, xml)]).await.unwrap().requirements.remove(0)
}

fn versions(deployed: &DeployedRequirements) -> (i32, Vec<(&str, i32)>) {
    (deployed.version, deployed.decisions.iter().map(|one| (&*one.id, one.version)).collect())
}

fn amount(json: &str) -> Document {
    vec![("amount".into(), json.into())]
}

async fn evaluate(host: &Host, decision: DecisionRef, variables: Document) -> Result<Evaluated, Error> {
    let command = Command::Evaluate(Evaluate { decision, tenant: TENANT.into(), variables });
    match submit(host, command).await? {
        Answer::Evaluated(evaluated) => Ok(evaluated),
        other => panic!("{other:?}"),
    }
}

async fn by_id(host: &Host, id: &str, variables: Document) -> Result<Evaluated, Error> {
    evaluate(host, DecisionRef::Id(id.into()), variables).await
}

async fn by_key(host: &Host, key: DecisionKey, variables: Document) -> Result<Evaluated, Error> {
    evaluate(host, DecisionRef::Key(key), variables).await
}

async fn recorded(host: &Host) -> Vec<EvaluatedDecisionView> {
    let query = Query { with_details: true, ..Query::of(Entity::EvaluatedDecisions, Tenants::Everything) };
    match host.store().search(&query).await.unwrap().items {
        Items::EvaluatedDecisions(views) => views,
        other => panic!("{other:?}"),
    }
}

fn code_of<T: std::fmt::Debug>(result: Result<T, Error>) -> Code {
    match result {
        Err(Error::Rejected(rejection)) => rejection.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn files_and_decisions_have_versions_of_their_own() {
    let server = Server::start(&memory()).await;
    let host = &server.host;
    let first = deploy(host, "fees.dmn", &fees(2)).await;
    assert_eq!(versions(&first), (1, vec![("base", 1), ("fee", 1)]));
    assert_eq!(deploy(host, "fees.dmn", &fees(2)).await, first, "identical content is the same version");
    let second = deploy(host, "fees.dmn", &fees(3)).await;
    assert_eq!(versions(&second), (2, vec![("base", 2), ("fee", 2)]));
    let renamed = deploy(host, "renamed.dmn", &fees(3)).await;
    assert_eq!(renamed.version, 3, "a renamed file is a new version");
    let other = deploy(host, "other.dmn", &file("other", &literal("base", "7"))).await;
    assert_eq!(versions(&other), (1, vec![("base", 4)]), "a decision may move to another file");
    assert_eq!(by_id(host, "base", vec![]).await.unwrap().output, "7".into());
    let again = deploy(host, "renamed.dmn", &fees(3)).await;
    assert_eq!(versions(&again), (4, vec![("base", 5), ("fee", 4)]), "its decisions were no longer the latest");
    server.stop().await;
}

#[tokio::test]
async fn required_decisions_come_first() {
    let server = Server::start(&memory()).await;
    let host = &server.host;
    let deployed = deploy(host, "fees.dmn", &fees(2)).await;
    let evaluated = by_id(host, "fee", amount("10")).await.unwrap();
    assert_eq!((&*evaluated.output, evaluated.failure.clone()), ("5", None));
    assert_eq!(evaluated.decision, deployed.decisions[1]);
    assert_eq!((evaluated.requirements, &*evaluated.requirements_id), (deployed.key, "fees"));
    let seen: Vec<_> = evaluated.decisions.iter().map(|one| (one.place, &*one.decision_id, &*one.kind, &*one.output)).collect();
    assert_eq!(seen, [(1, "base", "LITERAL_EXPRESSION", "20"), (2, "fee", "DECISION_TABLE", "5")]);
    let fee = &evaluated.decisions[1];
    assert_eq!((&*fee.inputs[0].id, &*fee.inputs[0].name, &*fee.inputs[0].value), ("in", "Input", "20"));
    assert_eq!((&*fee.rules[0].id, fee.rules[0].index, &*fee.rules[0].outputs[0].value), ("small", 1, "5"));
    let rows = recorded(host).await;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].inputs, fee.inputs);
    assert_eq!((rows[1].evaluation, rows[1].root_decision, rows[1].instance), (evaluated.key, deployed.decisions[1].key, None));
    let big = by_key(host, deployed.decisions[1].key, amount("50")).await.unwrap();
    assert_eq!(&*big.output, "1");
    assert!(evaluated.key.0 + 1 < big.key.0, "an evaluation has a key for each of its decisions");
    assert_eq!(recorded(host).await.len(), 4);
    let delete = || submit(host, Command::DeleteEvaluation { evaluation: evaluated.key });
    assert_eq!(delete().await.unwrap(), Answer::Done);
    assert_eq!(code_of(delete().await), Code::NotFound);
    let left: Vec<_> = recorded(host).await.iter().map(|row| row.evaluation).collect();
    assert_eq!(left, [big.key, big.key]);
    server.stop().await;
}

#[tokio::test]
async fn a_failure_is_an_answer_and_leaves_nothing() {
    let server = Server::start(&memory()).await;
    let host = &server.host;
    let checked = literal("checked", "assert(amount, amount &gt; 5)");
    let asked = r##"<decision id="asked" name="asked"><informationRequirement id="n"><requiredDecision href="#checked"/></informationRequirement>
        <literalExpression><text>checked</text></literalExpression></decision>"##;
    deploy(host, "a.dmn", &file("a", &format!("{checked}{asked}"))).await;
    let evaluated = by_id(host, "asked", amount("1")).await.unwrap();
    let failure = evaluated.failure.unwrap();
    assert_eq!(&*failure.decision_id, "checked");
    assert!(failure.message.starts_with("Expected to evaluate decision 'asked', but "), "{}", failure.message);
    assert_eq!((&*evaluated.output, evaluated.decisions.len()), ("null", 1));
    assert!(recorded(host).await.is_empty());
    assert_eq!(code_of(by_id(host, "unknown", vec![]).await), Code::NotFound);
    assert_eq!(code_of(by_key(host, DecisionKey(1), vec![]).await), Code::NotFound);
    let elsewhere = Evaluate { decision: DecisionRef::Id("asked".into()), tenant: "other".into(), variables: vec![] };
    assert_eq!(code_of(submit(host, Command::Evaluate(elsewhere)).await), Code::NotFound);
    server.stop().await;
}

#[tokio::test]
async fn a_deleted_file_gives_way_to_the_one_before() {
    let server = Server::start(&memory()).await;
    let host = &server.host;
    let first = deploy(host, "fees.dmn", &fees(2)).await;
    let second = deploy(host, "fees.dmn", &fees(3)).await;
    let delete = async |key: RequirementsKey| submit(host, Command::DeleteResource { key: key.0 }).await;
    by_key(host, second.decisions[0].key, amount("1")).await.unwrap();
    assert_eq!(delete(second.key).await.unwrap(), Answer::ResourceDeleted { key: second.key.0 });
    assert_eq!(code_of(delete(second.key).await), Code::NotFound);
    assert_eq!(code_of(by_key(host, second.decisions[0].key, amount("1")).await), Code::NotFound);
    assert_eq!(&*by_id(host, "base", amount("1")).await.unwrap().output, "2");
    delete(first.key).await.unwrap();
    assert_eq!(code_of(by_id(host, "base", amount("1")).await), Code::NotFound);
    let third = deploy(host, "fees.dmn", &fees(2)).await;
    assert_eq!(versions(&third), (3, vec![("base", 3), ("fee", 3)]), "numbers are never given twice");
    server.stop().await;
}

#[tokio::test]
async fn decisions_survive_a_restart() {
    let store = memory();
    let server = Server::start(&store).await;
    let first = deploy(&server.host, "fees.dmn", &fees(2)).await;
    let second = deploy(&server.host, "fees.dmn", &fees(3)).await;
    server.stop().await;
    let server = Server::start(&store).await;
    let host = &server.host;
    assert_eq!(deploy(host, "fees.dmn", &fees(3)).await, second);
    assert_eq!(&*by_id(host, "base", amount("1")).await.unwrap().output, "3");
    assert_eq!(&*by_key(host, first.decisions[0].key, amount("1")).await.unwrap().output, "2");
    assert_eq!(deploy(host, "fees.dmn", &fees(4)).await.version, 3);
    server.stop().await;
}

#[tokio::test]
async fn a_deployment_is_all_or_nothing() {
    let server = Server::start(&memory()).await;
    let host = &server.host;
    let (a, b) = (file("a", &literal("x", "1")), file("b", &literal("x", "2")));
    assert_eq!(code_of(deploy_all(host, &[("a.dmn", &a), ("b.dmn", &b)]).await), Code::InvalidArgument, "one decision twice");
    let same = file("a", &literal("y", "2"));
    assert_eq!(code_of(deploy_all(host, &[("a.dmn", &a), ("b.dmn", &same)]).await), Code::InvalidArgument, "one file twice");
    let broken = file("b", &literal("y", "1 +"));
    assert_eq!(code_of(deploy_all(host, &[("a.dmn", &a), ("b.dmn", &broken)]).await), Code::InvalidArgument);
    assert_eq!(code_of(by_id(host, "x", vec![]).await), Code::NotFound);
    let process = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="t">
        <process id="x" isExecutable="true"><startEvent id="s"/></process></definitions>"#;
    let both = deploy_all(host, &[("p.bpmn", process), ("a.dmn", &a)]).await.unwrap();
    assert_eq!((both.processes.len(), both.requirements.len()), (1, 1), "a process and a decision may share an id");
    server.stop().await;
}

/// Every decision shares its value with the one it requires twice, so only writing it out makes it large.
#[tokio::test]
async fn what_an_evaluation_looks_at_is_bounded() {
    let server = Server::start(&memory()).await;
    let host = &server.host;
    let mut decisions = literal("d0", "text");
    for n in 1..=7 {
        let below = n - 1;
        decisions += &format!(
            r##"<decision id="d{n}" name="d{n}"><informationRequirement id="a{n}"><requiredDecision href="#d{below}"/></informationRequirement>
            <informationRequirement id="b{n}"><requiredDecision href="#d{below}"/></informationRequirement>
            <literalExpression><text>d{below}</text></literalExpression></decision>"##
        );
    }
    deploy(host, "a.dmn", &file("a", &decisions)).await;
    let text = |length: usize| vec![("text".into(), format!("\"{}\"", "x".repeat(length)).into())];
    let small = by_id(host, "d7", text(10)).await.unwrap();
    assert_eq!(
        (small.failure.is_none(), small.decisions.len()),
        (true, 255),
        "a decision that is required twice is listed twice"
    );
    let large = by_id(host, "d7", text(1_000_000)).await.unwrap();
    assert!(large.failure.unwrap().message.contains("bytes"));
    assert_eq!((&*large.output, large.decisions.len(), recorded(host).await.len()), ("null", 0, 100));
    server.stop().await;
}
