/** Plays the scenarios of {@code sdks/scenarios} with this SDK and a real server. */
package io.caudal.scenarios;
