/** The Kafka transport, for a server that announces jobs there. */
package io.caudal.client.kafka;
