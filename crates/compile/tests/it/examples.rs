//! The examples can be looked at in a modeler: every element and every flow of them is drawn.

use std::collections::BTreeSet;
use std::path::PathBuf;

#[test]
fn every_element_of_the_examples_is_drawn() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let models = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "bpmn"));
    let mut seen = 0;
    for file in models {
        let text = std::fs::read_to_string(file).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        let drawn: BTreeSet<&str> = document.descendants().filter_map(|node| node.attribute("bpmnElement")).collect();
        for process in compile::bpmn(text.as_bytes()).unwrap().processes {
            let elements = process.elements.iter().map(|element| &element.id);
            for id in elements.chain(process.flows.iter().map(|flow| &flow.id)) {
                assert!(drawn.contains(&**id), "{}: {id} is not drawn", file.display());
                seen += 1;
            }
        }
    }
    assert!(30 < seen, "{seen}");
}
