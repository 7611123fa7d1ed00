package io.caudal.client;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;

/**
 * SIGTERM and SIGINT. With a shutdown hook instead Java would end with 143 whatever the program did about them.
 *
 * <p>{@code sun.misc.Signal} is in every Java, but no compiler takes it without a warning; so it is found by name.
 */
final class Signals {
    private Signals() {}

    /** Works, and asks the work to stop when a signal comes. */
    static void until(Runnable stop, Runnable work) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> listener = Class.forName("sun.misc.SignalHandler");
            Method handle = signal.getMethod("handle", signal, listener);
            Object ours = Proxy.newProxyInstance(
                    listener.getClassLoader(), new Class<?>[] {listener}, (proxy, method, arguments) -> {
                        stop.run();
                        return null;
                    });
            Map<Object, Object> before = new HashMap<>();
            for (String name : new String[] {"TERM", "INT"}) {
                Object one = signal.getConstructor(String.class).newInstance(name);
                before.put(one, handle.invoke(null, one, ours));
            }
            try {
                work.run();
            } finally {
                for (Map.Entry<Object, Object> one : before.entrySet()) {
                    handle.invoke(null, one.getKey(), one.getValue());
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this Java has no signals", e);
        }
    }
}
