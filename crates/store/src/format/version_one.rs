//! What version 1 wrote is read. The bytes are from a server that wrote them: they have no lengths before records, requests without a
//! caller, and jobs where there are waits now.

use engine::{
    DecisionKey, DefinitionKey, Document, ElementKey, EvaluationKey, Event, IncidentKey, IncidentKind, InstanceKey, JobKey, On,
    Opened, Outcome, RequirementsKey, Token, VariableKey, WaitEnd, WaitKey,
};
use model::{ElementIx, FlowIx};

use super::*;
use crate::log::*;
use crate::query::Tenants;
use crate::row::{EvaluatedDecision, EvaluatedInput, EvaluatedOutput, EvaluationOrigin, JobKind, MatchedRule};

const EVENTS: &str = "011100ac020201ad0202ac0202ad0203ad0204ad0205ad0206ac0203c80107ac020308ac0203c8010905ad020161022d310a05ad020161\
    0422c3a4220b07ad0204776f726b050c07ad02020d09ad02010707016d0e09ad0210ad0201640f01";
const TOKENS: &str = "0102ac0203c801ac0203c801";
const DETAILS: &str = "01010169014901320101720301016f014f0131";
const REQUESTS: [&str; 15] = [
    "0100017401016e0200ff010174016bffffffffffffffffff01",
    "01010500",
    "01020002017401017801310103746167010162010174016bffffffffffffffffff01",
    "0103ac0200",
    "0104070101780131010174016bffffffffffffffffff01",
    "01050704016dd00f010178013100",
    "0106070163016d00010174016bffffffffffffffffff01",
    "01070701020000",
    "0108ad02010178013101010174016bffffffffffffffffff01",
    "01090900",
    "010a04776f726b0177c0a9072001017400010174016bffffffffffffffffff01",
    "010b010780a0abfef96200",
    "010c07010174016bffffffffffffffffff01",
    "010d0101640174010178013100",
    "010e0b010174016bffffffffffffffffff01",
];
const ANSWERS: [&str; 8] = [
    "01000101740101700202016e01040172015202016e01080164014402",
    "010105",
    "0102ac02020170020174010374616700",
    "0103",
    "010406",
    "0105010704776f726bac02ac02020170020165ad02027b7d01770680a0abfef962077b2278223a317d017400010162",
    "01070b08016401440204017201740131010164016d010b0101080164014401020e4445434953494f4e5f5441424c450408017480a0abfe\
        f9620131010169014901320101720301016f014f013101ac0202ad02",
    "0106040466756c6c",
];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

const TASK: ElementKey = ElementKey(301);
const ROOT: ElementKey = ElementKey(300);
const TOKEN: Token = Token { scope: ROOT, gateway: ElementIx(3), flow: FlowIx(200) };

fn document() -> Document {
    vec![("x".into(), "1".into())]
}

#[test]
fn events() {
    let (key, scope) = (TASK, TASK);
    let (job, variable, incident) = (WaitKey(7), VariableKey(5), IncidentKey(9));
    let expected = [
        Event::Started { instance: InstanceKey(300), definition: DefinitionKey(2), parent: None },
        Event::Entered { key, element: ElementIx(2), scope: ROOT },
        Event::Activated { key },
        Event::Leaving { key },
        Event::Left { key },
        Event::Dropped { key },
        Event::TokenArrived(TOKEN),
        Event::TokensTaken { scope: ROOT, gateway: ElementIx(3) },
        Event::TokenDropped(TOKEN),
        Event::VariableCreated { key: variable, scope, name: "a".into(), value: "-1".into() },
        Event::VariableUpdated { key: variable, scope, name: "a".into(), value: "\"ä\"".into() },
        Event::WaitOpened(Opened {
            key: job,
            element: TASK,
            catch: None,
            on: On::Job { job_type: "work".into(), retries: -3, headers: None, listener: None },
        }),
        Event::WaitClosed { key: job, element: TASK, on: engine::Waited::Job, end: WaitEnd::ErrorThrown },
        Event::IncidentRaised {
            key: incident,
            element: TASK,
            job: Some(job.job()),
            kind: IncidentKind::DecisionEvaluation,
            message: "m".into(),
        },
        Event::IncidentResolved { key: incident, element: TASK },
        Event::DecisionCalled { element: TASK, decision: "d".into() },
        Event::Ended { outcome: Outcome::Terminated },
    ];
    assert_eq!(decode_events(&bytes(EVENTS), |_| None).unwrap(), expected);
}

#[test]
fn tokens() {
    assert_eq!(decode_tokens(&bytes(TOKENS)).unwrap(), [TOKEN, TOKEN]);
}

#[test]
fn requests() {
    let resources = vec![DeployResource { name: "n".into(), content: vec![0, 255].into() }];
    let (job, variables) = (JobKey(7), document());
    let expected = [
        Command::Deploy(Deploy { tenant: "t".into(), resources }),
        Command::DeleteResource { key: 5 },
        Command::Create(Create {
            process: ProcessRef::Key(DefinitionKey(2)),
            tenant: "t".into(),
            variables: document(),
            tags: vec!["tag".into()],
            business_id: Some("b".into()),
        }),
        Command::Cancel { instance: InstanceKey(300) },
        Command::CompleteJob { job, variables: document(), result: None },
        Command::FailJob(FailJob { job, retries: 2, message: "m".into(), backoff: 1000, variables: document() }),
        Command::ThrowError(ThrowError { job, code: "c".into(), message: "m".into(), variables: vec![] }),
        Command::UpdateJob(UpdateJob { job, retries: Some(1), timeout: None }),
        Command::SetVariables { scope: TASK, variables: document(), local: true },
        Command::ResolveIncident { incident: IncidentKey(9) },
        Command::Activate(Activate {
            job_type: "work".into(),
            worker: "w".into(),
            timeout: 60_000,
            max: 32,
            tenants: vec!["t".into()],
            fetch: vec![],
        }),
        Command::Release { jobs: vec![Released { job, deadline: 1_700_000_000_000, lease: 0 }] },
        Command::JobDue { job },
        Command::Evaluate(Evaluate { decision: DecisionRef::Id("d".into()), tenant: "t".into(), variables }),
        Command::DeleteEvaluation { evaluation: EvaluationKey(11) },
    ];
    let caller = Caller { name: "".into(), tenants: Tenants::These(vec!["<default>".into()]), trace: None };
    for (n, (hex, command)) in REQUESTS.iter().zip(expected).enumerate() {
        // Every other one had an idempotency key.
        let idempotency = IdempotencyKey { tenant: "t".into(), key: "k".into(), fingerprint: u64::MAX };
        let idempotency = n.is_multiple_of(2).then_some(idempotency);
        assert_eq!(decode_request(&bytes(hex)).unwrap(), Request { caller: caller.clone(), command, idempotency });
    }
}

fn evaluated() -> EvaluatedDecision {
    EvaluatedDecision {
        evaluation: EvaluationKey(11),
        place: 1,
        decision: Some(DecisionKey(8)),
        decision_id: "d".into(),
        name: "D".into(),
        version: Some(1),
        kind: "DECISION_TABLE".into(),
        requirements: RequirementsKey(4),
        root_decision: DecisionKey(8),
        tenant: "t".into(),
        evaluated: 1_700_000_000_000,
        output: "1".into(),
        inputs: vec![EvaluatedInput { id: "i".into(), name: "I".into(), value: "2".into() }],
        rules: vec![MatchedRule {
            id: "r".into(),
            index: 3,
            outputs: vec![EvaluatedOutput { id: "o".into(), name: "O".into(), value: "1".into() }],
        }],
        origin: Some(EvaluationOrigin { instance: InstanceKey(300), definition: DefinitionKey(2), element_instance: TASK }),
    }
}

#[test]
fn details() {
    let details = decode_details(&bytes(DETAILS)).unwrap();
    assert_eq!((details.inputs, details.rules), (evaluated().inputs, evaluated().rules));
}

#[test]
fn answers() {
    for (hex, answer) in ANSWERS.iter().zip(expected_answers()) {
        assert_eq!(decode_answer(&bytes(hex)).unwrap(), answer);
    }
}

fn expected_answers() -> [Answer; 8] {
    let decision = DeployedDecision { key: DecisionKey(8), id: "d".into(), name: "D".into(), version: 1 };
    let process = DeployedProcess { process_id: "p".into(), version: 1, definition: DefinitionKey(2), resource_name: "n".into() };
    let requirements = DeployedRequirements {
        key: RequirementsKey(4),
        id: "r".into(),
        name: "R".into(),
        version: 1,
        resource_name: "n".into(),
        decisions: vec![decision.clone()],
    };
    [
        Answer::Deployed(Deployed {
            key: 1,
            tenant: "t".into(),
            processes: vec![process],
            requirements: vec![requirements],
            forms: Vec::new(),
        }),
        Answer::ResourceDeleted { key: 5 },
        Answer::Created(Created {
            instance: InstanceKey(300),
            definition: DefinitionKey(2),
            process_id: "p".into(),
            version: 1,
            tenant: "t".into(),
            tags: vec!["tag".into()],
            business_id: None,
        }),
        Answer::Done,
        Answer::VariablesSet { key: 6 },
        Answer::Activated(vec![activated()]),
        Answer::Evaluated(Evaluated {
            key: EvaluationKey(11),
            decision,
            requirements: RequirementsKey(4),
            requirements_id: "r".into(),
            tenant: "t".into(),
            output: "1".into(),
            failure: Some(EvaluationFailure { decision_id: "d".into(), message: "m".into() }),
            decisions: vec![evaluated()],
        }),
        Answer::Rejected(Rejection { code: Code::Exhausted, reason: "full".into() }),
    ]
}

fn activated() -> ActivatedJob {
    ActivatedJob {
        key: JobKey(7),
        job_type: "work".into(),
        instance: InstanceKey(300),
        root: InstanceKey(300),
        definition: DefinitionKey(2),
        process_id: "p".into(),
        version: 1,
        element_id: "e".into(),
        element_instance: TASK,
        headers: "{}".into(),
        worker: "w".into(),
        retries: 3,
        deadline: 1_700_000_000_000,
        variables: "{\"x\":1}".into(),
        tenant: "t".into(),
        tags: vec![],
        business_id: Some("b".into()),
        kind: JobKind::default(),
        lease: 0,
        progress: None,
        trace: None,
    }
}
