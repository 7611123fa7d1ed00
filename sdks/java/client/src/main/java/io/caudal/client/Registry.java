package io.caudal.client;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;

/** Handlers by job type. A runner takes one. */
public final class Registry {
    /**
     * Does the jobs of one type.
     *
     * @param <T> what its variables come as
     */
    @FunctionalInterface
    public interface Handler<T> {
        /**
         * Does a job.
         *
         * @param variables of the job
         * @param context what else there is to know
         * @return anything that is written as a JSON object, merged into the variables of the instance; null for nothing
         * @throws Exception of any kind: the job is tried again while retries are left, unless it is a {@link NonRetryableException}
         */
        Object handle(T variables, JobContext context) throws Exception;
    }

    /** Does a job whose variables are not read yet. */
    private interface Raw {
        Object handle(JobContext context) throws Exception;
    }

    private final Map<String, Raw> handlers = new ConcurrentSkipListMap<>();
    private final ObjectMapper mapper;

    /** With no handler yet. */
    public Registry() {
        this(Json.mapper());
    }

    /**
     * With no handler yet, and a mapper of your own.
     *
     * @param mapper reads variables and writes results
     */
    public Registry(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    /**
     * Registers the handler of a job type. Variables that do not fit the type are a failure that is not retried; those it does
     * not name are left alone.
     *
     * @param <T> what its variables come as
     * @param jobType of which jobs
     * @param variables what its variables come as: a record, say
     * @param handler does them
     * @return this
     */
    public <T> Registry handle(String jobType, Class<T> variables, Handler<T> handler) {
        return add(jobType, context -> handler.handle(context.decode(variables), context));
    }

    /**
     * Registers a handler that takes its variables as they are.
     *
     * @param jobType of which jobs
     * @param handler does them
     * @return this
     */
    public Registry handle(String jobType, Handler<Map<String, Object>> handler) {
        return add(jobType, context -> handler.handle(context.decode(new TypeReference<>() {}), context));
    }

    /**
     * Registers all methods with a {@link JobHandler}.
     *
     * @param handlers has them
     * @return this
     */
    public Registry register(Object handlers) {
        int before = this.handlers.size();
        for (Class<?> type = handlers.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                JobHandler annotation = method.getAnnotation(JobHandler.class);
                if (annotation != null && !method.isBridge()) {
                    add(annotation.value(), of(handlers, method));
                }
            }
        }
        if (this.handlers.size() == before) {
            throw new IllegalArgumentException(handlers.getClass().getName() + " has no method with @JobHandler");
        }
        return this;
    }

    /**
     * The types there are handlers for.
     *
     * @return sorted
     */
    public List<String> jobTypes() {
        return List.copyOf(handlers.keySet());
    }

    /**
     * What a handler of this registry is given. For runners and tests.
     *
     * @param job which
     * @param report gets what it says of its progress
     * @return one for a single call
     */
    public JobContext context(Job job, Consumer<Progress> report) {
        return new JobContext(job, mapper, report);
    }

    /**
     * Calls the handler of the job's type. For runners and tests.
     *
     * @param context was made by {@link #context}
     * @return what its end means for the job
     */
    public Outcome run(JobContext context) {
        Outcome outcome;
        try {
            Raw handler = handlers.get(context.job().type());
            if (handler == null) {
                throw new IllegalStateException(
                        "there is no handler for '" + context.job().type() + "'");
            }
            outcome = new Outcome.Completed(Json.object(mapper, handler.handle(context)));
        } catch (Throwable e) {
            // An assertion or a class that is not found is the job's failure as well: nobody else would report it.
            outcome = of(e);
        }
        context.end();
        return context.isLost() ? new Outcome.Abandoned(context.loss()) : outcome;
    }

    private Outcome of(Throwable thrown) {
        String message = thrown.getMessage() == null ? thrown.getClass().getName() : thrown.getMessage();
        if (thrown instanceof BpmnException e) {
            try {
                return new Outcome.Thrown(
                        Objects.requireNonNullElse(e.code(), ""), message, Json.object(mapper, e.variables()));
            } catch (NonRetryableException unwritable) {
                return of(unwritable);
            }
        }
        if (thrown instanceof SnoozeException e) {
            return new Outcome.Snoozed(e.delay());
        }
        if (thrown instanceof RetryableException e) {
            return new Outcome.Failed(message, true, e.retryAfter());
        }
        return new Outcome.Failed(message, !(thrown instanceof NonRetryableException), null);
    }

    private Registry add(String jobType, Raw handler) {
        if (handlers.putIfAbsent(jobType, handler) != null) {
            throw new IllegalArgumentException("there is a handler for '" + jobType + "' already");
        }
        return this;
    }

    private Raw of(Object target, Method method) {
        Type[] types = method.getGenericParameterTypes();
        int contexts = 0;
        JavaType[] read = new JavaType[types.length];
        for (int i = 0; i < types.length; i++) {
            if (types[i] == JobContext.class) {
                contexts++;
            } else {
                read[i] = mapper.constructType(types[i]);
            }
        }
        if (types.length < 1 || types.length - contexts > 1 || contexts > 1) {
            throw new IllegalArgumentException(method + " must take the variables, the JobContext, or both");
        }
        method.setAccessible(true);
        return context -> {
            Object[] arguments = new Object[read.length];
            for (int i = 0; i < read.length; i++) {
                arguments[i] = read[i] == null ? context : context.decode(read[i]);
            }
            return call(target, method, arguments);
        };
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Exception {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception thrown) {
                throw thrown;
            }
            throw (Error) e.getCause();
        }
    }
}
