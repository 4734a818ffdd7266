// A call as a command of curl, as HAR and as Swift.

/** Marks in place of secrets, which are never sent. */
const redactionMark = /\(redacted\)|redacted-\d+/g;

/** Whether the body is there: of a large, a streamed or a binary one only the size was written down. */
function bodyIsKept(request) { return !/^\((\d+ bytes(, streamed)?|streamed)\)$/.test(request.body ?? ""); }

/** A word of a shell, with variables in place of marks. */
function shellWord(text, variable) {
    let out = "", at = 0;
    const quote = (part) => (part === "" ? "" : "'" + part.replace(/'/g, "'\\''") + "'");
    for (const found of text.matchAll(redactionMark)) {
        out += quote(text.slice(at, found.index)) + "\"${" + variable(found[0]) + "}\"";
        at = found.index + found[0].length;
    }
    return out + quote(text.slice(at)) || "''";
}

/** A command that sends the same bytes, once its variables are set. */
function asCurl(exchange) {
    const { request } = exchange;
    const names = new Map();
    const variables = (name) => (mark) => {
        const base = name.toUpperCase().replace(/[^A-Z0-9]+/g, "_").replace(/^(?=\d)/, "_") || "SECRET";
        const key = mark === "(redacted)" ? base + mark : mark;
        if (!names.has(key)) {
            let variable = mark === "(redacted)" ? base : mark.toUpperCase().replace("-", "_");
            while ([...names.values()].includes(variable)) variable += "_2";
            names.set(key, variable);
        }
        return names.get(key);
    };
    const words = ["curl", "--globoff", "--path-as-is"];
    const has = (name) => request.fields.some(([other]) => other.toLowerCase() === name);
    const hasBody = (request.body ?? "") !== "" || !!request.base64;
    if (request.method === "HEAD") words.push("--head");
    else if (request.method !== (hasBody ? "POST" : "GET")) words.push("-X " + shellWord(request.method, variables("method")));
    for (const [name, value] of request.fields) {
        if (["content-length", "host"].includes(name.toLowerCase())) continue;
        words.push("-H " + shellWord(value === "" ? name + ";" : name + ": " + value, variables(name)));
    }
    // What curl would add by itself.
    for (const name of ["Accept", "User-Agent", ...(hasBody ? ["Content-Type", "Expect"] : [])]) {
        if (!has(name.toLowerCase())) words.push("-H '" + name + ":'");
    }
    let before = "";
    if (request.base64) {
        before = "base64 -d <<'END' | ";
        words.push("--data-binary @-");
    } else if (hasBody && !bodyIsKept(request)) {
        words.push("--data-binary @BODY");
    } else if (hasBody) {
        words.push("--data-raw " + shellWord(request.body, variables("body")));
    }
    words.push(shellWord(request.url, variables("query")));
    const set = [...new Set(names.values())];
    return (set.length > 0 ? "# Set first: " + set.join(", ") + "\n" : "") + before + words.join(" \\\n    ")
        + (request.base64 ? "\n" + request.base64 + "\nEND" : "");
}

/** One entry as HAR 1.2. */
function asHAR(call, detail) {
    const { request, response } = detail.exchange;
    const pairs = (fields) => fields.map(([name, value]) => ({ name, value }));
    const typeOf = (message) => message?.fields.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
    const url = new URL(request.url, "https://invalid.");
    const content = { size: call.received ?? 0, mimeType: typeOf(response) };
    if (response?.base64) Object.assign(content, { text: response.base64, encoding: "base64" });
    else if (response?.body) content.text = response.body;
    const last = detail.attempts.flatMap((attempt) => attempt.hops).at(-1)?.timings;
    const span = (until, from) => (until > from ? until - from : until > 0 ? 0 : -1);
    const entry = {
        startedDateTime: new Date(call.start ?? 0).toISOString(), time: call.duration ?? 0,
        request: {
            method: request.method, url: request.url, httpVersion: "HTTP/1.1", cookies: [], headers: pairs(request.fields),
            queryString: [...url.searchParams].map(([name, value]) => ({ name, value })), headersSize: -1, bodySize: request.body?.length ?? 0,
        },
        response: {
            status: call.status ?? 0, statusText: "", httpVersion: "HTTP/1.1", cookies: [], headers: pairs(response?.fields ?? []),
            content, redirectURL: "", headersSize: -1, bodySize: call.received ?? -1,
        },
        cache: {},
        timings: {
            blocked: -1, dns: last ? span(last.name, 0) : -1, connect: last ? span(last.secured || last.connected, last.name) : -1,
            ssl: last ? span(last.secured, last.connected) : -1, send: 0,
            wait: last ? Math.max(0, last.firstByte - Math.max(last.secured, last.connected, last.name)) : call.duration ?? 0,
            receive: last ? Math.max(0, last.total - last.firstByte) : 0,
        },
        _signet: { call: call.id, service: call.service, method: call.method, stages: detail.stages, cache: detail.cache, code: call.code },
    };
    if ((request.body ?? "") !== "") entry.request.postData = { mimeType: typeOf(request), text: request.body };
    return JSON.stringify({ log: { version: "1.2", creator: { name: "signet", version: "" }, entries: [entry] } }, null, 2);
}

/** A literal of Swift, raw so that nothing in it is an escape. */
function swiftText(text) {
    if (/[\u0000-\u0008\u000b-\u001f\u007f\n]/.test(text)) {
        return "\"" + text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")
            .replace(/[\u0000-\u001f\u007f]/g, (character) => "\\u{" + character.codePointAt(0).toString(16) + "}") + "\"";
    }
    let marks = "";
    while (text.includes("\"" + marks) || text.includes("\\" + marks)) marks += "#";
    return marks + "\"" + text + "\"" + marks;
}

/** Statements of Swift that make the call. */
function asSwift(call, detail) {
    const { request } = detail.exchange;
    const head = "import SignetClient\n\n";
    const built = detail.contents.find((part) => part.stage === "building")?.before;
    if (call.isRPC && built) {
        const lines = ["let call = try RPCCall("];
        if (built.body) {
            const kind = built.body.trimStart().startsWith("[") ? "array" : "object";
            lines[0] = "let parameters = try JSONValue(parsing: Array(" + swiftText(built.body) + ".utf8))";
            lines.push("let call = RPCCall(" + swiftText(call.method) + ", parameters: ." + kind + "(parameters." + kind + "!))");
        } else {
            lines[0] = "let call = RPCCall(" + swiftText(call.method) + ")";
        }
        lines.push("let response = try await system.call(call, on: " + swiftText(call.service) + ")", "print(response.result?.value as Any)");
        return (built.body ? "import SignetJSON\n" : "") + head + lines.join("\n") + "\n";
    }
    const url = new URL(request.url, "https://invalid.");
    const fields = request.fields.filter(([name]) => !madeFields.has(name.toLowerCase()) && !madeField(name));
    const lines = ["let response = try await system.exchange(", "    " + swiftText(call.service) + ", method: .init(" + swiftText(request.method) + ")!,",
        "    target: " + swiftText(url.pathname + url.search) + ",",
        "    fields: [" + fields.map(([name, value]) => ".init(" + swiftText(name) + ")!: " + swiftText(value)).join(", ") + (fields.length ? "" : ":") + "],",
        "    body: Array(" + swiftText(request.body ?? "") + ".utf8))", "print(response.status, String(decoding: response.body, as: UTF8.self))"];
    return head + "import HTTPTypes\n".repeat(fields.length > 0 ? 1 : 0) + lines.join("\n") + "\n";
}

/** Fields that the system makes new for each request. */
const madeFields = new Set(["host", "content-length", "signature", "signature-input", "content-digest", "signet-signature", "authorization", "cookie", "dpop"]);
const madeField = (name) => /^(traceparent|tracestate)$/i.test(name);
