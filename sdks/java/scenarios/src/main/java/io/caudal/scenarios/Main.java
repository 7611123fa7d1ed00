package io.caudal.scenarios;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Prints {@code ok NAME} or {@code FAIL NAME: why} for every scenario. */
final class Main {
    private static final int AT_ONCE = 4;

    interface Play {
        void play() throws Exception;
    }

    record Scenario(String name, Play play) {}

    private Main() {}

    public static void main(String[] words) throws Exception {
        if (words.length == 3 && words[0].equals("worker")) {
            WorkerProcess.run(words[1], words[2]);
            return;
        }
        if (words.length == 3 && words[0].equals("bench")) {
            WorkerProcess.bench(words[1], Integer.parseInt(words[2]));
            return;
        }
        List<Scenario> all = new ArrayList<>(Everyday.ALL);
        all.addAll(Faults.ALL);
        all.addAll(Traces.ALL);
        all.addAll(Secured.ALL);
        ExecutorService slots = Executors.newFixedThreadPool(AT_ONCE);
        List<Future<Boolean>> played = new ArrayList<>();
        for (Scenario one : all) {
            if (World.suits(one.name())) {
                played.add(slots.submit(() -> passes(one)));
            }
        }
        boolean good = true;
        for (Future<Boolean> one : played) {
            good &= one.get();
        }
        System.exit(good ? 0 : 1);
    }

    private static boolean passes(Scenario scenario) {
        try {
            scenario.play().play();
            System.out.println("ok " + scenario.name());
            return true;
        } catch (Throwable e) {
            // An assertion as well.
            e.printStackTrace();
            String why = String.valueOf(e).replace('\n', ' ');
            System.out.println("FAIL " + scenario.name() + ": " + why.substring(0, Math.min(why.length(), 300)));
            return false;
        }
    }
}
