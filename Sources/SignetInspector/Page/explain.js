// What happened to a call, in words for someone who sees Signet for the first time.

/** What a code means, and what to do next; NAME stands for the service. */
const meanings = {
    "pin-mismatch": ["The certificate authorities vouch for the server, but none of its keys is one of the pinned keys. If the policy has no mistake, either the server got a new key that the pin policy doesn't have yet, or somebody is between you and the server.",
        "ask the server's owner, not over this connection, which of these keys are right, and correct the pin policy"],
    "unlisted-host": ["The pin policy doesn't list this host, and refuses hosts that it doesn't list.", "add the host to the pin policy, or exclude it"],
    "policy-expired": ["The pin policy's rule for this host has expired.", "renew the rule's pins and its \"expires\""],
    "cleartext-to-pinned-host": ["The host is pinned and the URL has no TLS.", "use https in the URL"],
    "engine-cannot-pin": ["The host is pinned, and the chosen engine can't check pins.", "choose an engine that checks pins"],
    "rpc-error": ["The server answered, and its answer is an error of the remote procedure: the status of HTTP alone says nothing about it.", "look the code up in the service's documentation"],
    "business-code": ["The server answered as if all was well, but the service's own code in the response means failure.", "look the code up in the service's documentation; services.NAME.responseChecks.goodCodes lists those that aren't failures"],
    "http-status": ["The server answered with a status that isn't a success.", "look for the cause in the server's own words, or in its log at this time"],
    "timeout": ["The time for the call passed before the response was complete.", "see in Times which part was slow; services.NAME.timeout changes the limit of an attempt"],
    "connect": ["No connection to the server could be made.", "check that the server runs, and the host and the port of the URL"],
    "name": ["The host's name could not be resolved.", "check the host of the URL, and this machine's DNS"],
    "offline": ["This machine has no way to the network.", "connect this machine; with services.NAME.waitsForConnectivity calls wait for that"],
    "tls": ["The TLS handshake failed: the server's certificate is not trusted, not valid now, or for another name.", "check the server's certificate, and this machine's clock"],
    "cut-off": ["The connection ended before the response was complete.", "look in the log of the server, or of a proxy before it, for who ended the connection"],
    "malformed-response": ["The server's response breaks the rules of its protocol.", "show the server's owner what Response has"],
    "response-too-large": ["The response is larger than the limit.", "ask for less, or raise services.NAME.responseChecks.maximumBytes"],
    "cancelled": ["The caller ended the call."],
    "replaced": ["A newer call of the same kind replaced this one."],
    "not-running": ["The network system was shut down."],
    "not-cached": ["The call wanted a stored response only, and there is none.", "let a call ask the server first"],
    "interceptor-failed": ["Code of the program around the call (an interceptor) threw an error.", "look at that code; its error is above"],
    "credential-failed": ["The program could not give the credential for the call.", "look at the code that gives credentials; its error is above"],
    "signer-failed": ["The key that signs is held elsewhere, and it could not sign.", "check that the place of the key can be reached"],
    "refused-url": ["The URL is not one that the configuration's rules allow.", "correct the URL, or the rules"],
    "redirect-refused": ["The server redirected to a place that the policy doesn't allow.", "use the new place in the URL, if it is right"],
};

/** Codes of the pin policy. */
const pinCodes = new Set(["pin-mismatch", "unlisted-host", "policy-expired", "cleartext-to-pinned-host", "engine-cannot-pin"]);

/** Codes of requests that were refused before they were sent. */
const unsent = new Set([...pinCodes, "offline", "connect", "name", "credential-failed", "signer-failed", "refused-url", "not-cached"]);

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

/** A sentence about how a request ended, with its place. */
function endWords(hop) {
    const host = hostOf(hop.url), place = hop.address?.address ? host + " at " + hop.address.address : host;
    const reason = " (" + hop.failure + (hop.message ? ": " + hop.message : "") + ").";
    if (hop.failure === "connect") return "No connection to " + place + " could be made" + reason;
    return hop.failure ? "The request to " + place + " failed" + reason : place + " answered with status " + hop.status + ".";
}

/** Sentences about a stored response whose time was over. */
function staleWords(detail, last) {
    const { age } = detail.cache, limit = /(?:^|[\s,])max-age="?(\d+)/i.exec(fieldOf(detail.exchange?.response, "cache-control") ?? "")?.[1];
    const past = limit !== undefined && age >= limit ? ", " + showSeconds(age - limit) + " past its limit of " + showSeconds(Number(limit)) : ", past its limit";
    return (last ? endWords(last) + " So the caller" : "The server was not asked: the caller") + " got the stored response, which is "
        + (age === null || age === undefined ? "old" : showSeconds(age) + " old") + past + ".";
}

/** The remedy at the end of a pin policy's message, and the entry that it offers; names in certificates stand before it. */
function remedyOf(message) {
    const mark = "; remedy: ", at = (message ?? "").lastIndexOf(mark);
    if (at < 0) return null;
    const [, text, entry] = /^(.*?)(?:: ("[^"]*":\{.*))?$/s.exec(message.slice(at + mark.length));
    return { text: text.replace(/; if so$/, ""), entry, summary: message.slice(0, message.indexOf(";")) };
}

/** The pauses between attempts, and the server's wish for them. */
function pauseWords(detail) {
    const answers = [...detail.contents.filter((part) => part.stage === "request").map((part) => part.after), detail.exchange?.response].filter(Boolean);
    const wish = answers.map((answer) => fieldOf(answer, "retry-after")).find((value) => value !== undefined);
    const pauses = detail.stages.filter((stage) => stage.name === "pause").map((stage) => showTime(stage.duration));
    if (answers.length === 0 && pauses.length === 0) return "";
    return (wish !== undefined ? "The server asked for a pause (Retry-After: " + wish + ")" : answers.length === 0 ? "It isn't known if the server asked for a pause"
        : "The server asked for no pause (it sent no Retry-After)") + (pauses.length > 0 ? "; the pauses were " + pauses.join(", ") + "." : ".");
}

/** The scheme, the key and the time of a signature. */
function signedWords(base) {
    const created = Number(/;created=(\d+)/.exec(base.text.split("\n").at(-1))?.[1] ?? base.parts.find(([name]) => ["created", "{time}"].includes(name))?.[1]);
    return (base.scheme ? " by the scheme " + base.scheme : "") + (base.keyID ? " with the key " + base.keyID : "")
        + (created > 0 ? " at " + showDate(created > 1e11 ? created : created * 1000) : "");
}

/** Returns sentences about a signed request that was refused. */
function refusedWords(call, detail) {
    const words = [], base = detail.contents.findLast((part) => part.base)?.base;
    if (base) words.push("The request was signed" + signedWords(base) + ".");
    const behind = (Date.parse(fieldOf(detail.exchange?.response, "date") ?? "") - call.start) / 1000;
    if (Math.abs(behind) > 30) words.push("This machine's clock is " + showSeconds(Math.round(Math.abs(behind))) + (behind > 0 ? " behind" : " ahead of") + " the server's (the field Date): that alone can be the cause.");
    return words;
}

const compareBase = "compare the signature base, byte for byte, with the one that the server computed: a line that differs is the cause. If all are equal, the two sides have different keys; if the server speaks of time, one of the clocks is wrong";

/** Returns a title, a tone and sentences about how a call ended, the next step, the part of the page for it, and an entry of a pin policy. */
function explain(call, detail) {
    const words = [];
    const count = detail.attempts.length;
    const hops = detail.attempts.flatMap((attempt) => attempt.hops);
    const last = hops[hops.length - 1];
    const isRefusedSignature = call.isSigned && call.code === "http-status" && [401, 403].includes(call.status);
    if (call.state === "running") {
        return { title: "The call is running", tone: "idle", words: ["Its parts appear when it ends."] };
    }
    let title, tone, part, entry, [meaning, next] = own(meanings, call.code ?? "") ?? [];
    if (call.state === "success") {
        [title, tone] = ["The call succeeded", "good"];
        if (call.source === "cache") [title, tone] = ["The caller got a stored response", "good"];
        if (detail.cache?.decision === "stale") {
            [title, tone, part] = ["The caller got a stale response from the cache", "warning", "cache"];
            if (last) next = "find out why the server fails; its data may have changed since";
            words.push(staleWords(detail, last));
        }
        if (call.status >= 400) [title, tone] = ["The server answered with status " + call.status, "warning"];
    } else if (call.state === "cancelled") {
        [title, tone] = ["The call was ended from outside", "idle"];
    } else {
        [title, tone] = ["The call failed: " + call.code, "bad"];
        next ??= "look for the cause in the parts below";
        if (call.code === "http-status") title = "The server refused: status " + call.status;
        if (call.code === "business-code" || call.code === "rpc-error") {
            title = "The service said no" + (call.serverCode !== null && call.serverCode !== undefined ? ": code " + call.serverCode : "");
            part = "response";
        }
        if (isRefusedSignature) {
            const isNamed = /signature/i.test(detail.exchange?.response?.body ?? "");
            title = (isNamed ? "The server says that the signature is wrong" : "The server refused the signed request") + ": status " + call.status;
            part = "signature";
            meaning = null;
            words.push(...refusedWords(call, detail));
            next = isNamed ? compareBase : "read the server's own words. If the signature is at fault, " + compareBase + ". Otherwise the server may know the key and not allow this call, or want another credential";
        }
        if (call.code === "http-status" && (call.status === 429 || call.status >= 500)) {
            next = "look for the cause in the server's log; services." + call.service + ".attempts changes the limit, retry.firstPause and retry.longestPause the pauses";
        }
        if (count > 1) title += ", after " + plural(count, "attempt");
    }
    const remedy = pinCodes.has(call.code) ? remedyOf(call.message) : null;
    if (pinCodes.has(call.code)) part = "pins";
    if (remedy) {
        // A mistake in the policy is the cause; other advice is the next step.
        if (/match this chain|letter case|placeholders/.test(remedy.text)) words.push(remedy.text.charAt(0).toUpperCase() + remedy.text.slice(1) + ".");
        else next = remedy.text;
        entry = remedy.entry;
    }
    // A switch makes a failure without its usual cause.
    const isSimulated = last ? last.isSimulated : call.isSimulated;
    if (meaning && !isSimulated) words.push(meaning);
    if (unsent.has(call.code) && !isSimulated && (!last || last.failure === call.code)) words.push(sentWords(call, hops));
    if ((call.code === "business-code" || call.code === "rpc-error") && call.status) {
        words.push("The status of HTTP was " + call.status + ".");
    }
    if (isSimulated && call.state === "failed") {
        words.push("A switch (simulation) made the failure. " + sentWords(call, hops));
        next = "turn the switch off, unless it is meant";
    } else if (call.isSimulated) words.push("A switch (simulation) made an attempt fail.");
    if (call.source === "stub") words.push("A stub answered in place of the server.");
    if (call.source === "interceptor") words.push("The program's own code answered; no server was asked.");
    if (call.source === "replay") words.push("A recording answered in place of the server.");
    if (count > 1) {
        const outcome = call.state === "success" && (last?.status ?? 500) < 400 ? "The last one succeeded" : "None succeeded, and no further one was made";
        words.push("The request was sent in " + plural(count, "attempt") + ": " + attemptWords(detail) + ". " + outcome
            + (detail.limits?.attempts ? " (the limit is " + plural(detail.limits.attempts, "attempt") + ")." : "."));
        if (count >= 3 && call.state === "failed") words.push("A server that is down or busy gets " + count + " times the load from calls like this one.");
        part ??= "times";
    }
    if (count > 1 || [429, 503].includes(call.status)) words.push(pauseWords(detail));
    if (call.joined) words.push("The call shared the work of call #" + call.joined + ", so it sent nothing of its own.");
    if (last?.engine && last.reason === "fallback") words.push("The engine " + last.engine + " sent it because the one before it fails.");
    next = next?.replaceAll("NAME", () => call.service);
    return { title, tone, words: words.filter(Boolean), next, part, entry, summary: remedy?.summary };
}
