package io.caudal.client;

/**
 * One attempt at a step.
 *
 * @param id its key
 * @param stepId of the definition
 * @param stepType such as {@code SERVICE_TASK}
 * @param attemptNumber counted from 1
 * @param status where it is in its life
 * @param failureReason why it failed, or null
 */
public record StepExecution(
        String id, String stepId, String stepType, int attemptNumber, String status, String failureReason) {}
