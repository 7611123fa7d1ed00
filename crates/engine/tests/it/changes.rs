//! A change of a running instance is one step, which others wait for: it has a bound.

use engine::{
    Activation, Budget, CHANGED_MAX, Command, DefinitionKey, Instance, InstanceKey, Keys, Means, Migration, Modification,
    Rejected, Which, migrate, step,
};

fn activations(count: usize) -> Modification {
    let activation = Activation { element: "a".into(), ancestor: None, variables: Vec::new() };
    Modification { activate: vec![activation; count], ..Modification::default() }
}

#[test]
fn a_change_of_too_many_at_once_is_refused() {
    let process = compile::text("# A task.\nstart: start -> a\na: task t -> end\nend: end\n").unwrap();
    let mut instance = Instance::new(InstanceKey(1), DefinitionKey(1));
    let mut keys = Keys::starting_at(2);
    let mut ask = |instance: &mut Instance, command: &Command| {
        let means = Means {
            globals: &model::Globals::default(),
            process: &process,
            now: 0,
            keys: &mut keys,
            budget: &mut Budget::new(u32::MAX, usize::MAX),
        };
        let done = step(means, instance, command).map(|_| ());
        instance.accept();
        done
    };
    ask(&mut instance, &Command::Start { at: None, parent: None, variables: Vec::new() }).unwrap();
    let too_many = ask(&mut instance, &Command::Modify(activations(CHANGED_MAX + 1)));
    assert!(matches!(too_many, Err(Rejected::Invalid(_))), "{too_many:?}");
    assert_eq!(instance.elements.len(), 2);
    ask(&mut instance, &Command::Modify(activations(CHANGED_MAX - 2))).unwrap();
    assert_eq!(instance.elements.len(), CHANGED_MAX, "the process itself and its task are among them");

    let mappings = [("a".into(), "a".into())];
    let migration = Migration { definition: DefinitionKey(2), process: &process, mappings: &mappings };
    let move_on = |instance: &mut Instance| {
        let mut keys = Keys::starting_at(1 << 40);
        let means = Means {
            globals: &model::Globals::default(),
            process: &process,
            now: 0,
            keys: &mut keys,
            budget: &mut Budget::new(u32::MAX, usize::MAX),
        };
        let done = migrate(means, instance, &migration).map(|_| ());
        instance.accept();
        done
    };
    move_on(&mut instance).unwrap();
    ask(&mut instance, &Command::Modify(activations(1))).unwrap();
    assert!(matches!(move_on(&mut instance), Err(Rejected::Unfit(_))));
    let all = Modification { terminate: vec![Which::Id("a".into())], ..Modification::default() };
    ask(&mut instance, &Command::Modify(all)).unwrap();
    assert!(instance.elements.is_empty(), "so many may be ended");
}
