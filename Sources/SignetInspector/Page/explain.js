// What happened to a call, in words for someone who sees Signet for the first time.

const meanings = {
    "pin-mismatch": "The certificate authorities vouch for the server, but none of its keys is one of the pinned keys. Either the server got a new key that the pin policy doesn't have yet, or somebody is between you and the server.",
    "unlisted-host": "The pin policy doesn't list this host, and refuses hosts that it doesn't list.",
    "policy-expired": "The pin policy's rule for this host has expired.",
    "cleartext-to-pinned-host": "The host is pinned and the URL has no TLS.",
    "engine-cannot-pin": "The host is pinned, and the chosen engine can't check pins.",
    "rpc-error": "The server answered, and its answer is an error of the remote procedure: the status of HTTP alone says nothing about it.",
    "business-code": "The server answered as if all was well, but the service's own code in the response means failure.",
    "http-status": "The server answered with a status that isn't a success.",
    "timeout": "The time for the call passed before the response was complete.",
    "connect": "No connection to the server could be made.",
    "name": "The host's name could not be resolved.",
    "offline": "This machine has no way to the network.",
    "tls": "The TLS handshake failed: the server's certificate is not trusted, not valid now, or for another name.",
    "cut-off": "The connection ended before the response was complete.",
    "malformed-response": "The server's response breaks the rules of its protocol.",
    "response-too-large": "The response is larger than the limit.",
    "cancelled": "The caller ended the call.",
    "replaced": "A newer call of the same kind replaced this one.",
    "not-running": "The network system was shut down.",
    "not-cached": "The call wanted a stored response only, and there is none.",
    "interceptor-failed": "Code of the program around the call (an interceptor) threw an error.",
    "credential-failed": "The program could not give the credential for the call.",
    "signer-failed": "The key that signs is held elsewhere, and it could not sign.",
    "refused-url": "The URL is not one that the configuration's rules allow.",
    "redirect-refused": "The server redirected to a place that the policy doesn't allow.",
};

/** Codes of requests that were refused before they were sent. */
const unsent = new Set(["pin-mismatch", "unlisted-host", "policy-expired", "cleartext-to-pinned-host", "engine-cannot-pin", "offline", "connect", "name",
    "credential-failed", "signer-failed", "refused-url", "not-cached"]);

/** A sentence about what was sent. */
function sentWords(call, hops) {
    const wasSent = (hop) => !hop.isSimulated && hop.source !== "stub" && (hop.status > 0 || !unsent.has(hop.failure));
    if (hops.some(wasSent)) return "Nothing of the last request was sent; the ones before it were.";
    return call.code === "redirect-refused" ? "" : "Nothing of the request was sent.";
}

/** How each attempt ended, as words. */
function attemptWords(detail) {
    const reasons = detail.attempts.map((attempt) => {
        const hop = attempt.hops[attempt.hops.length - 1];
        return hop ? hop.failure ?? String(hop.status ?? "no response") : "not sent";
    });
    return reasons.join(", then ");
}

/** Returns a title, a tone and sentences about how a call ended. */
function explain(call, detail) {
    const words = [];
    const count = detail.attempts.length;
    const hops = detail.attempts.flatMap((attempt) => attempt.hops);
    const last = hops[hops.length - 1];
    const isRefusedSignature = call.isSigned && call.code === "http-status" && [401, 403].includes(call.status);
    if (call.state === "running") {
        return { title: "The call is running", tone: "idle", words: ["Its parts appear when it ends."] };
    }
    let title, tone;
    if (call.state === "success") {
        [title, tone] = ["The call succeeded", "good"];
        if (call.source === "cache") [title, tone] = ["The caller got a stored response", "good"];
        if (detail.cache?.decision === "stale") {
            [title, tone] = ["The caller got a stale response from the cache", "warning"];
            words.push((count === 0 ? "The server was not asked, and a stored response whose time was over was used" : "The server could not be reached or failed (" + attemptWords(detail) + "), and a stored response whose time was over was used in its place") + ": its data may be old" + (detail.cache.age > 0 ? " (" + plural(detail.cache.age, "second") + ")." : "."));
        }
        if (call.status >= 400) [title, tone] = ["The server answered with status " + call.status, "warning"];
    } else if (call.state === "cancelled") {
        [title, tone] = ["The call was ended from outside", "idle"];
    } else {
        [title, tone] = ["The call failed: " + call.code, "bad"];
        if (call.code === "http-status") title = "The server refused: status " + call.status;
        if (call.code === "business-code" || call.code === "rpc-error") {
            title = "The service said no" + (call.serverCode !== null && call.serverCode !== undefined ? ": code " + call.serverCode : "");
        }
        if (isRefusedSignature) title = "The server refused the signed request: status " + call.status;
        if (count > 1) title += ", after " + plural(count, "attempt");
    }
    const meaning = own(meanings, call.code ?? "");
    if (meaning && !isRefusedSignature) words.push(meaning);
    if (unsent.has(call.code) && !last?.isSimulated && (!last || last.failure === call.code)) words.push(sentWords(call, hops));
    if ((call.code === "business-code" || call.code === "rpc-error") && call.status) {
        words.push("The status of HTTP was " + call.status + ".");
    }
    if (isRefusedSignature) {
        words.push("Read the response below. If it speaks of the signature, compare the signature base below, byte for byte, with the one that the server computed: a line that differs is the cause, and if all are equal, the two sides have different keys. Otherwise the server may know the key and not allow this call, or want another credential.");
    }
    if (last?.isSimulated && call.state === "failed") words.push("A switch (simulation) made the failure. " + sentWords(call, hops));
    else if (call.isSimulated) words.push("A switch (simulation) made an attempt fail.");
    if (call.source === "stub") words.push("A stub answered in place of the server.");
    if (call.source === "interceptor") words.push("The program's own code answered; no server was asked.");
    if (call.source === "replay") words.push("A recording answered in place of the server.");
    if (count > 1) {
        const outcome = call.state === "success" && (last?.status ?? 500) < 400 ? "The last one succeeded" : "None succeeded, and no further one was made";
        words.push("The request was sent in " + plural(count, "attempt") + ": " + attemptWords(detail) + ". " + outcome
            + (detail.limits?.attempts ? " (the limit is " + plural(detail.limits.attempts, "attempt") + ")." : "."));
        if (count >= 3 && call.state === "failed") words.push("A server that is down or busy gets " + count + " times the load from calls like this one: look at the pauses between the attempts below.");
    }
    if (call.joined) words.push("The call shared the work of call " + call.joined + ", so it sent nothing of its own.");
    if (last?.engine && last.reason === "fallback") words.push("The engine " + last.engine + " sent it because the one before it fails.");
    return { title, tone, words };
}
