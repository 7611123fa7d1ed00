package caudal.clients;

import io.camunda.client.CamundaClient;
import io.camunda.client.api.command.ClientStatusException;
import io.camunda.client.api.command.ProblemException;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.search.enums.ElementInstanceType;
import io.camunda.client.api.search.response.Incident;
import io.camunda.client.api.search.response.Job;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** The same scenarios as in the other languages, in the words of the Java client. */
final class Scenarios {
  private final CamundaClient client;
  private final Supplier<CamundaClient> anotherClient;

  /**
   * Workers get a client of their own, closed with them: a closed worker lets its last poll run on and drops the jobs it brings, a
   * closed client does not.
   */
  Scenarios(CamundaClient client, Supplier<CamundaClient> anotherClient) {
    this.client = client;
    this.anotherClient = anotherClient;
  }

  void topology() {
    equal(client.newTopologyRequest().send().join().getPartitionsCount(), 1, "partitions");
  }

  void deploy() {
    var first = client.newDeployResourceCommand()
        .addResourceFile(fixture("order.bpmn")).addResourceFile(fixture("decide.bpmn")).addResourceFile(fixture("ship.bpmn"))
        .send().join();
    equal(first.getProcesses().stream().map(process -> process.getBpmnProcessId()).toList(), List.of("order", "decide", "ship"), "processes");
    var again = client.newDeployResourceCommand().addResourceFile(fixture("order.bpmn")).send().join().getProcesses().get(0);
    equal(again.getVersion(), 1, "version of the same file");
    equal(again.getProcessDefinitionKey(), first.getProcesses().get(0).getProcessDefinitionKey(), "key of the same file");
  }

  void decision() {
    var deployed = client.newDeployResourceCommand().addResourceFile(fixture("fees.dmn")).send().join();
    equal(deployed.getDecisions().stream().map(decision -> decision.getDmnDecisionId()).toList(), List.of("total", "fee"), "decisions");
    var evaluated = client.newEvaluateDecisionCommand().decisionId("fee").variables(Map.of("amount", 10)).send().join();
    equal(evaluated.getDecisionOutput(), "5", "output");
    var decisions = evaluated.getEvaluatedDecisions();
    equal(decisions.stream().map(decision -> decision.getDecisionId()).toList(), List.of("total", "fee"), "evaluated decisions");
    equal(decisions.get(1).getMatchedRules().get(0).getRuleId(), "small", "the rule that matched");
    long key = deployed.getDecisions().get(1).getDecisionKey();
    equal(client.newEvaluateDecisionCommand().decisionKey(key).variables(Map.of("amount", 50)).send().join().getDecisionOutput(), "1", "output by key");
    refused("NOT_FOUND", 404, () -> client.newEvaluateDecisionCommand().decisionId("nobody-knows-this").send().join());
  }

  void refuseBroken() {
    refused("INVALID_ARGUMENT", 400, () -> client.newDeployResourceCommand().addResourceFile(fixture("broken.bpmn")).send().join());
  }

  void refuseUnknown() {
    refused("NOT_FOUND", 404, () -> client.newCreateInstanceCommand().bpmnProcessId("nobody-knows-this").latestVersion().send().join());
  }

  void poll() {
    Map<Long, Object> seen = new ConcurrentHashMap<>();
    List<Long> instances = new ArrayList<>();
    for (int amount = 0; amount < 5; amount++) {
      instances.add(start("order", Map.of("amount", amount)));
    }
    try (var workers = anotherClient.get(); var worker = workers.newWorker().jobType("collect-money").handler((jobs, job) -> {
      int amount = (Integer) job.getVariablesAsMap().get("amount");
      seen.put(job.getProcessInstanceKey(), List.of(amount, job.getCustomHeaders().get("method"), job.getRetries()));
      jobs.newCompleteCommand(job).variables(Map.of("collected", amount * 2)).send().join();
    }).requestTimeout(Duration.ofSeconds(1)).open()) {
      instances.forEach(this::completed);
    }
    equal(seen.get(instances.get(4)), List.of(4, "card", 3), "what the worker saw");
    var collected = client.newVariableSearchRequest()
        .filter(filter -> filter.processInstanceKey(instances.get(4)).name("collected")).send().join().items();
    equal(only(collected, "variables").getValue(), "8", "the worker's variable");
  }

  /** Starts instances until five jobs were pushed: only what becomes available after the stream has opened is pushed. */
  void stream() throws InterruptedException {
    BlockingQueue<ActivatedJob> pushed = new LinkedBlockingQueue<>();
    var stream = client.newStreamJobsCommand().jobType("collect-money").consumer(pushed::add)
        .workerName("streamer").timeout(Duration.ofMinutes(1)).send();
    // Nobody is told when it has opened, and what was there before that is not pushed: so instances are started until enough were.
    List<Long> started = new ArrayList<>();
    for (int taken = 0; taken < 5;) {
      started.add(start("order", Map.of("amount", taken)));
      ActivatedJob job = pushed.poll(1, TimeUnit.SECONDS);
      if (job != null) {
        equal(started.remove(job.getProcessInstanceKey()), true, "the pushed job is of an instance that waited for it");
        complete(job, Map.of("by", "stream"));
        equal(state(job.getProcessInstanceKey()), "COMPLETED", "state");
        taken++;
      } else if (stream.isDone()) {
        throw new AssertionError("the stream ended by itself");
      }
    }
    stream.cancel(true);
    started.forEach(instance -> client.newCancelInstanceCommand(instance).send().join());
  }

  void streamingWorker() {
    try (var workers = anotherClient.get(); var worker = workers.newWorker().jobType("collect-money")
        .handler((jobs, job) -> jobs.newCompleteCommand(job).send().join()).streamEnabled(true).requestTimeout(Duration.ofSeconds(1)).open()) {
      List<Long> instances = new ArrayList<>();
      for (int amount = 0; amount < 20; amount++) {
        instances.add(start("order", Map.of("amount", amount)));
      }
      instances.forEach(this::completed);
    }
  }

  void result() {
    try (var workers = anotherClient.get();
        var check = workers.newWorker().jobType("check")
            .handler((jobs, job) -> jobs.newCompleteCommand(job).variables(Map.of("limit", 100)).send().join()).requestTimeout(Duration.ofSeconds(1)).open();
        var approve = workers.newWorker().jobType("approve")
            .handler((jobs, job) -> jobs.newCompleteCommand(job).variables(Map.of("approved", true)).send().join()).requestTimeout(Duration.ofSeconds(1)).open()) {
      var large = client.newCreateInstanceCommand().bpmnProcessId("decide").latestVersion().variables(Map.of("amount", 250))
          .withResult().requestTimeout(Duration.ofSeconds(10)).send().join();
      equal(large.getVariablesAsMap(), Map.of("amount", 250, "limit", 100, "approved", true), "variables of the large one");
      var small = client.newCreateInstanceCommand().bpmnProcessId("decide").latestVersion().variables(Map.of("amount", 5))
          .withResult().fetchVariables("limit").requestTimeout(Duration.ofSeconds(10)).send().join();
      equal(small.getVariablesAsMap(), Map.of("limit", 100), "fetched variables of the small one");
    }
  }

  void parallel() {
    long instance = start("ship", Map.of("items", List.of("a", "b")));
    ActivatedJob pack = job("pack");
    ActivatedJob label = job("label");
    equal(pack.getVariablesAsMap().get("content"), List.of("a", "b"), "the mapped input");
    complete(label, Map.of());
    equal(state(instance), "ACTIVE", "state while one of two tasks is open");
    complete(pack, Map.of("weight", 2));
    equal(state(instance), "COMPLETED", "state");
    var elements = client.newElementInstanceSearchRequest()
        .filter(filter -> filter.processInstanceKey(instance).type(ElementInstanceType.SUB_PROCESS)).send().join().items();
    equal(only(elements, "sub-processes").getState().name(), "COMPLETED", "state of the sub-process");
  }

  void retry() {
    long instance = start("order", Map.of());
    ActivatedJob first = job("collect-money");
    client.newFailCommand(first).retries(1).errorMessage("try again").send().join();
    ActivatedJob second = job("collect-money");
    equal(List.of(second.getKey(), (long) second.getRetries()), List.of(first.getKey(), 1L), "the job that came back");
    complete(second, Map.of());
    equal(state(instance), "COMPLETED", "state");
  }

  void incident() {
    long instance = start("order", Map.of());
    ActivatedJob job = job("collect-money");
    client.newFailCommand(job).retries(0).errorMessage("no money").send().join();
    resolve(instance, job, "JOB_NO_RETRIES");
  }

  void throwError() {
    long instance = start("order", Map.of());
    ActivatedJob job = job("collect-money");
    client.newThrowErrorCommand(job).errorCode("no-such-card").errorMessage("refused").send().join();
    resolve(instance, job, "UNHANDLED_ERROR_EVENT");
  }

  void search() {
    for (int amount = 0; amount < 20; amount++) {
      long instance = start("order", Map.of("amount", amount));
      equal(state(instance), "ACTIVE", "state at once");
      var variables = client.newVariableSearchRequest().filter(filter -> filter.processInstanceKey(instance)).send().join().items();
      equal(only(variables, "variables").getValue(), String.valueOf(amount), "variable at once");
      Job job = only(client.newJobSearchRequest().filter(filter -> filter.processInstanceKey(instance)).send().join().items(), "jobs");
      equal(job.getState().name(), "CREATED", "job at once");
      client.newCompleteCommand(job.getJobKey()).send().join();
      equal(state(instance), "COMPLETED", "end at once");
    }
  }

  void setVariables() {
    long instance = start("order", Map.of("amount", 1));
    client.newSetVariablesCommand(instance).variables(Map.of("amount", 7)).send().join();
    ActivatedJob job = job("collect-money");
    equal(job.getVariablesAsMap(), Map.of("amount", 7), "variables of the job");
    complete(job, Map.of());
  }

  void cancel() {
    long instance = start("order", Map.of());
    client.newCancelInstanceCommand(instance).send().join();
    equal(state(instance), "TERMINATED", "state");
    refused("NOT_FOUND", 404, () -> client.newCancelInstanceCommand(instance).send().join());
  }

  long start(String process, Map<String, Object> variables) {
    return client.newCreateInstanceCommand().bpmnProcessId(process).latestVersion().variables(variables).send().join().getProcessInstanceKey();
  }

  /** Takes one job by polling. */
  ActivatedJob job(String type) {
    var jobs = client.newActivateJobsCommand().jobType(type).maxJobsToActivate(1).timeout(Duration.ofMinutes(1))
        .workerName("poller").requestTimeout(Duration.ofSeconds(10)).send().join().getJobs();
    return only(jobs, "jobs of type " + type);
  }

  void complete(ActivatedJob job, Map<String, Object> variables) {
    client.newCompleteCommand(job).variables(variables).send().join();
  }

  /** Expects one incident, resolves it, and finishes the instance. */
  private void resolve(long instance, ActivatedJob job, String errorType) {
    Incident trouble = incident(instance);
    equal(List.of(trouble.getErrorType().name(), trouble.getState().name()), List.of(errorType, "ACTIVE"), "incident");
    client.newUpdateRetriesCommand(job).retries(1).send().join();
    client.newResolveIncidentCommand(trouble.getIncidentKey()).send().join();
    equal(incident(instance).getState().name(), "RESOLVED", "incident after resolving");
    complete(job("collect-money"), Map.of());
    equal(state(instance), "COMPLETED", "state");
  }

  private Incident incident(long instance) {
    return only(client.newIncidentSearchRequest().filter(filter -> filter.processInstanceKey(instance)).send().join().items(), "incidents");
  }

  String state(long instance) {
    var found = client.newProcessInstanceSearchRequest().filter(filter -> filter.processInstanceKey(instance)).send().join().items();
    return only(found, "instances").getState().name();
  }

  private void completed(long instance) {
    until(() -> state(instance).equals("COMPLETED"), "instance " + instance + " completed");
  }

  static void until(BooleanSupplier condition, String what) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(25);
    while (!condition.getAsBoolean()) {
      if (deadline < System.nanoTime()) {
        throw new AssertionError("did not come to pass: " + what);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(20);
      } catch (InterruptedException stopped) {
        throw new AssertionError("stopped while waiting: " + what, stopped);
      }
    }
  }

  /** The call must be refused, whichever surface the client used. */
  static void refused(String grpcCode, int httpStatus, Runnable call) {
    try {
      call.run();
    } catch (ProblemException refusal) {
      equal(refusal.code(), httpStatus, "status of a refusal");
      return;
    } catch (ClientStatusException refusal) {
      equal(refusal.getStatusCode().name(), grpcCode, "code of a refusal");
      return;
    }
    throw new AssertionError("expected a refusal: " + grpcCode);
  }

  static <T> T only(List<T> items, String what) {
    equal(items.size(), 1, "number of " + what);
    return items.get(0);
  }

  static void equal(Object actual, Object expected, String what) {
    if (!Objects.equals(actual, expected)) {
      throw new AssertionError(what + ": expected " + expected + ", got " + actual);
    }
  }

  static String fixture(String name) {
    return Path.of(System.getenv("CAUDAL_FIXTURES"), name).toString();
  }
}
