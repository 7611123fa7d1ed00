/** The gRPC transport of a runner. */
package io.caudal.client.grpc;
