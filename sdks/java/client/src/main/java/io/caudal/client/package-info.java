/**
 * Workers and clients for Caudal: JSON workflows, BPMN processes, direct executions and queues.
 *
 * <p>Begin with {@link io.caudal.client.Registry}, {@link io.caudal.client.Runner} and {@link io.caudal.client.Client}.
 */
package io.caudal.client;
