package caudal.clients;

import static caudal.clients.Scenarios.equal;
import static caudal.clients.Scenarios.fixture;
import static caudal.clients.Scenarios.only;
import static caudal.clients.Scenarios.refused;
import static caudal.clients.Scenarios.until;

import io.camunda.client.CamundaClient;
import io.camunda.client.api.command.CompleteUserTaskJobResultStep1;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.search.enums.BatchOperationState;
import io.camunda.client.api.search.enums.ElementInstanceState;
import io.camunda.client.api.search.enums.ElementInstanceType;
import io.camunda.client.api.search.enums.UserTaskState;
import io.camunda.client.api.search.filter.UserTaskFilter;
import io.camunda.client.api.search.response.UserTask;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** What people do with their tasks, listeners hear, and operators do with what runs. */
final class PeopleAndOperators {
  private final CamundaClient client;
  private final Scenarios common;

  PeopleAndOperators(CamundaClient client, Scenarios common) {
    this.client = client;
    this.common = common;
  }

  void userTask() {
    client.newDeployResourceCommand().addResourceFile(fixture("opinion.form")).addResourceFile(fixture("review.bpmn")).send().join();
    long instance = common.start("review", Map.of("text", "a"));
    UserTask task = only(
        tasks(filter -> filter.processInstanceKey(instance).candidateGroup("editors").state(UserTaskState.CREATED)), "tasks of editors");
    equal(List.of(task.getElementId(), task.getPriority(), task.getCandidateGroups()), List.of("read", 70, List.of("editors")), "the task");
    long key = task.getUserTaskKey();
    client.newAssignUserTaskCommand(key).assignee("ann").allowOverride(false).send().join();
    refused("FAILED_PRECONDITION", 409, () -> client.newAssignUserTaskCommand(key).assignee("bob").allowOverride(false).send().join());
    equal(only(tasks(filter -> filter.processInstanceKey(instance).assignee("ann")), "tasks of ann").getUserTaskKey(), key, "her task");
    client.newUnassignUserTaskCommand(key).send().join();
    equal(tasks(filter -> filter.processInstanceKey(instance).assignee("ann")), List.of(), "tasks of ann afterwards");
    client.newUpdateUserTaskCommand(key).priority(20).candidateUsers("bob").send().join();
    UserTask changed = client.newUserTaskGetRequest(key).send().join();
    equal(List.of(changed.getPriority(), changed.getCandidateUsers()), List.of(20, List.of("bob")), "what was changed");
    client.newCompleteUserTaskCommand(key).variables(Map.of("opinion", "good")).send().join();
    equal(client.newUserTaskGetRequest(key).send().join().getState(), UserTaskState.COMPLETED, "state of the task");
    equal(common.state(instance), "COMPLETED", "state");
    var said = client.newVariableSearchRequest().filter(filter -> filter.processInstanceKey(instance).name("opinion")).send().join();
    equal(only(said.items(), "variables").getValue(), "\"good\"", "what was said");
    refused("NOT_FOUND", 404, () -> client.newCompleteUserTaskCommand(key).send().join());
  }

  void form() throws Exception {
    long instance = common.start("review", Map.of("text", "a"));
    long key = only(tasks(filter -> filter.processInstanceKey(instance)), "tasks").getUserTaskKey();
    var shown = client.newUserTaskGetFormRequest(key).send().join();
    equal(List.of(shown.getFormId(), shown.getVersion()), List.of("opinion", 1L), "form");
    equal(String.valueOf(shown.getSchema()), Files.readString(Path.of(fixture("opinion.form"))), "the form as it was deployed");
    var seen = client.newUserTaskVariableSearchRequest(key).filter(filter -> filter.name("text")).send().join();
    equal(only(seen.items(), "variables").getValue(), "\"a\"", "what the task is about");
    client.newCancelInstanceCommand(instance).send().join();
    equal(client.newUserTaskGetRequest(key).send().join().getState(), UserTaskState.CANCELED, "state of the task");
  }

  void executionListeners() {
    client.newDeployResourceCommand().addResourceFile(fixture("listened.bpmn")).send().join();
    long instance = common.start("listened", Map.of());
    ActivatedJob before = common.job("before-print");
    heard(before, "EXECUTION_LISTENER", "START");
    var printed = client.newJobSearchRequest().filter(filter -> filter.processInstanceKey(instance).type("print")).send().join();
    equal(printed.items(), List.of(), "jobs of the task meanwhile");
    common.complete(before, Map.of("paper", "white"));
    ActivatedJob printing = common.job("print");
    equal(printing.getVariablesAsMap(), Map.of("paper", "white"), "what the listener has set");
    common.complete(printing, Map.of());
    ActivatedJob after = common.job("after-print");
    heard(after, "EXECUTION_LISTENER", "END");
    equal(tasks(filter -> filter.processInstanceKey(instance)), List.of(), "the next task meanwhile");
    common.complete(after, Map.of());
    equal(only(tasks(filter -> filter.processInstanceKey(instance)), "tasks").getState(), UserTaskState.CREATED, "the next task");
    client.newCancelInstanceCommand(instance).send().join();
  }

  void taskListener() {
    long instance = common.start("listened", Map.of());
    List.of("before-print", "print", "after-print").forEach(type -> common.complete(common.job(type), Map.of()));
    long key = only(tasks(filter -> filter.processInstanceKey(instance)), "tasks").getUserTaskKey();
    var denied = client.newCompleteUserTaskCommand(key).send();
    answer(result -> result.deny(true, "not yours"));
    refused("FAILED_PRECONDITION", 409, denied::join);
    equal(client.newUserTaskGetRequest(key).send().join().getState(), UserTaskState.CREATED, "state after it was denied");
    var completed = client.newCompleteUserTaskCommand(key).send();
    answer(result -> result.correctPriority(90));
    completed.join();
    UserTask done = client.newUserTaskGetRequest(key).send().join();
    equal(List.of(done.getState(), done.getPriority()), List.of(UserTaskState.COMPLETED, 90), "state and corrected priority");
    equal(common.state(instance), "COMPLETED", "state");
  }

  void modify() {
    client.newDeployResourceCommand().addResourceFile(fixture("route.bpmn")).addResourceFile(fixture("route-anew.bpmn")).send().join();
    long instance = common.start("route", Map.of());
    long first = only(client.newElementInstanceSearchRequest()
        .filter(filter -> filter.processInstanceKey(instance).elementId("first")).send().join().items(), "elements").getElementInstanceKey();
    client.newModifyProcessInstanceCommand(instance).activateElement("second").withVariables(Map.of("moved", true))
        .and().terminateElement(first).send().join();
    equal(waitsAt(instance), List.of("second"), "where it waits now");
    ActivatedJob job = common.job("second");
    equal(job.getVariablesAsMap(), Map.of("moved", true), "variables of the job");
    common.complete(job, Map.of());
    equal(common.state(instance), "COMPLETED", "state");
    refused("NOT_FOUND", 404, () -> client.newModifyProcessInstanceCommand(instance).activateElement("second").send().join());
  }

  void migrate() {
    var definitions = client.newProcessDefinitionSearchRequest().filter(filter -> filter.processDefinitionId("route-anew")).send().join();
    long target = only(definitions.items(), "definitions").getProcessDefinitionKey();
    long instance = common.start("route", Map.of("kept", 1));
    refused("INVALID_ARGUMENT", 400, () -> client.newMigrateProcessInstanceCommand(instance)
        .migrationPlan(target).addMappingInstruction("first", "nowhere").send().join());
    client.newMigrateProcessInstanceCommand(instance).migrationPlan(target).addMappingInstruction("first", "one").send().join();
    equal(waitsAt(instance), List.of("one"), "where it waits now");
    // The job is the one that was there, with the type it had.
    common.complete(common.job("first"), Map.of());
    ActivatedJob next = common.job("two");
    equal(List.of(next.getBpmnProcessId(), next.getVariablesAsMap()), List.of("route-anew", Map.of("kept", 1)), "the next job");
    common.complete(next, Map.of());
    equal(common.state(instance), "COMPLETED", "state");
  }

  void batch() {
    List<Long> instances = new ArrayList<>();
    for (int number = 0; number < 5; number++) {
      instances.add(common.start("route", Map.of()));
    }
    String key = client.newCreateBatchOperationCommand().processInstanceCancel()
        .filter(filter -> filter.processInstanceKey(property -> property.in(instances))).send().join().getBatchOperationKey();
    until(() -> client.newBatchOperationGetRequest(key).send().join().getStatus() == BatchOperationState.COMPLETED, "the operation is over");
    var over = client.newBatchOperationGetRequest(key).send().join();
    equal(List.of(over.getOperationsTotalCount(), over.getOperationsCompletedCount(), over.getOperationsFailedCount()), List.of(5, 5, 0), "counts");
    var items = client.newBatchOperationItemsSearchRequest().filter(filter -> filter.batchOperationKey(key)).send().join().items();
    equal(items.stream().map(item -> item.getStatus().name()).collect(Collectors.toSet()), Set.of("COMPLETED"), "states of items");
    equal(items.stream().map(item -> item.getProcessInstanceKey()).collect(Collectors.toSet()), Set.copyOf(instances), "items");
    instances.forEach(instance -> equal(common.state(instance), "TERMINATED", "state"));
  }

  private List<UserTask> tasks(Consumer<UserTaskFilter> filter) {
    return client.newUserTaskSearchRequest().filter(filter).send().join().items();
  }

  private List<String> waitsAt(long instance) {
    var found = client.newElementInstanceSearchRequest().filter(filter ->
        filter.processInstanceKey(instance).state(ElementInstanceState.ACTIVE).type(ElementInstanceType.SERVICE_TASK)).send().join();
    return found.items().stream().map(element -> element.getElementId()).toList();
  }

  private void answer(UnaryOperator<CompleteUserTaskJobResultStep1> words) {
    ActivatedJob job = common.job("check-signature");
    heard(job, "TASK_LISTENER", "COMPLETING");
    client.newCompleteCommand(job).withResult(result -> words.apply(result.forUserTask())).send().join();
  }

  private static void heard(ActivatedJob job, String kind, String event) {
    equal(List.of(job.getKind().name(), job.getListenerEventType().name()), List.of(kind, event), "the listener");
  }
}
