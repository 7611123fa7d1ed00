/** For tests: handlers with fake jobs, and a real server in the background. */
package io.caudal.client.testing;
