/** Traces and metrics of jobs through OpenTelemetry. */
package io.caudal.client.opentelemetry;
