package caudal.clients;

import io.camunda.client.CamundaClient;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * camunda-client-java: every scenario over REST, and again over gRPC. Prints one line for each: {@code ok NAME}, or {@code FAIL
 * NAME: why}. The client finds the server by CAMUNDA_REST_ADDRESS and CAMUNDA_GRPC_ADDRESS.
 */
public final class JavaClient {
  private static final int SCENARIO_SECONDS_MAX = 30;

  /** What is done between a fresh server and a verdict. */
  interface Scenario {
    void run() throws Exception;
  }

  public static void main(String[] words) {
    boolean allWell = true;
    for (boolean rest : new boolean[] {true, false}) {
      try (CamundaClient client = connect(rest)) {
        var scenarios = new Scenarios(client, () -> connect(rest));
        String surface = rest ? "REST" : "gRPC";
        allWell &= runAll(named(scenarios), surface);
        allWell &= runAll(named(new PeopleAndOperators(client, scenarios)), surface);
      }
    }
    // Workers' threads may still be around.
    System.exit(allWell ? 0 : 1);
  }

  private static CamundaClient connect(boolean rest) {
    var builder = CamundaClient.newClientBuilder().preferRestOverGrpc(rest);
    builder.restAddress(URI.create(System.getenv("CAMUNDA_REST_ADDRESS")));
    builder.grpcAddress(URI.create(System.getenv("CAMUNDA_GRPC_ADDRESS")));
    return builder.build();
  }

  private static boolean runAll(Map<String, Scenario> scenarios, String surface) {
    boolean allWell = true;
    for (Map.Entry<String, Scenario> scenario : scenarios.entrySet()) {
      String name = scenario.getKey() + ", " + surface;
      long began = System.nanoTime();
      try {
        within(scenario.getValue());
        System.out.printf("ok %s (%.2f s)%n", name, (System.nanoTime() - began) / 1e9);
      } catch (Throwable failure) {
        allWell = false;
        System.out.printf("FAIL %s: %s%n", name, String.valueOf(failure).lines().findFirst().orElse(""));
        failure.printStackTrace(System.out);
      }
    }
    return allWell;
  }

  private static Map<String, Scenario> named(Scenarios scenarios) {
    Map<String, Scenario> named = new LinkedHashMap<>();
    named.put("the server answers topology", scenarios::topology);
    named.put("deploy, and deploy the same again", scenarios::deploy);
    named.put("deploy and evaluate a decision", scenarios::decision);
    named.put("refuse a broken file", scenarios::refuseBroken);
    named.put("refuse to start what was never deployed", scenarios::refuseUnknown);
    named.put("work by polling", scenarios::poll);
    named.put("work by streaming", scenarios::stream);
    named.put("work with a streaming worker", scenarios::streamingWorker);
    named.put("await a result", scenarios::result);
    named.put("work side by side inside a sub-process", scenarios::parallel);
    named.put("fail and try again", scenarios::retry);
    named.put("fail until an incident, then resolve it", scenarios::incident);
    named.put("throw an error nobody catches, then resolve it", scenarios::throwError);
    named.put("search sees every effect at once", scenarios::search);
    named.put("set variables of a running instance", scenarios::setVariables);
    named.put("cancel", scenarios::cancel);
    return named;
  }

  private static Map<String, Scenario> named(PeopleAndOperators scenarios) {
    Map<String, Scenario> named = new LinkedHashMap<>();
    named.put("people find, claim, change and complete a task", scenarios::userTask);
    named.put("a task shows its form and variables", scenarios::form);
    named.put("listeners are heard before and after a task", scenarios::executionListeners);
    named.put("a task listener denies, then lets pass", scenarios::taskListener);
    named.put("move a running instance to another task", scenarios::modify);
    named.put("migrate a running instance to another process", scenarios::migrate);
    named.put("cancel many at once, and see what became of each", scenarios::batch);
    return named;
  }

  private static void within(Scenario scenario) throws Throwable {
    var thread = Executors.newSingleThreadExecutor(task -> {
      var made = new Thread(task, "scenario");
      made.setDaemon(true);
      return made;
    });
    try {
      thread.submit(() -> {
        scenario.run();
        return null;
      }).get(SCENARIO_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (java.util.concurrent.ExecutionException failed) {
      throw failed.getCause();
    } finally {
      thread.shutdownNow();
    }
  }

  private JavaClient() {}
}
