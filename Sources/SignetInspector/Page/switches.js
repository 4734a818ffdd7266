// Switches of the program, and sending a call again. Only a program in a mode for debugging has them.

/** The switches that are on, in words. */
function switchWords(switches) {
    if (!switches) return [];
    const words = [];
    if (switches.isOffline) words.push("offline");
    if (switches.timesOut) words.push("timeout");
    if (switches.delay > 0) words.push("slow by " + showTime(switches.delay));
    if (switches.failureRate > 0) words.push(Math.round(switches.failureRate * 100) + " % fail");
    if (switches.engine) words.push("engine " + switches.engine);
    for (const [service, url] of Object.entries(switches.hosts ?? {})) words.push(service + " at " + url);
    for (const stub of switches.stubs ?? []) words.push("stub for " + (stub.service || "all services") + (stub.method ? " " + stub.method : ""));
    return words;
}

function openSwitches(app) {
    const { about } = app;
    const now = () => app.about.switches;
    const line = (label, control, help) => {
        control.id = "switch-" + label.replace(/\W+/g, "-");
        return make("div", { class: "line" }, make("label", { for: control.id, text: label }), make("div", {}, control, help ? make("span", { class: "faint", text: " " + help }) : null));
    };
    const change = async (changes) => {
        try {
            await app.act({ action: "switches", switches: { ...now(), ...changes } });
        } catch (error) { tell(error.message); }
        draw();
    };
    const box = (name) => {
        const control = make("input", { type: "checkbox", onchange: () => change({ [name]: control.checked }) });
        control.checked = now()[name];
        return control;
    };
    const number = (name, factor, attributes) => {
        const control = make("input", { type: "number", min: "0", ...attributes, onchange: () => change({ [name]: Math.max(0, Number(control.value)) / factor }) });
        control.value = Math.round(now()[name] * factor);
        return control;
    };
    const draw = () => {
        const switches = now();
        const engine = make("select", { onchange: () => change({ engine: engine.value }) },
            make("option", { value: "", text: "as the program chooses" }), ...about.engines.map((name) => make("option", { value: name, text: oneLine(name) })));
        engine.value = switches.engine ?? "";
        const parts = [
            line("Offline", box("isOffline"), "every request fails with offline"),
            line("Timeout", box("timesOut"), "every request fails with timeout, at once"),
            line("Slow, ms", number("delay", 1, { step: "100" }), "before each request"),
            line("Failures, %", number("failureRate", 100, { max: "100", step: "5" }), "of the requests fail with cut-off"),
            line("Engine", engine),
        ];
        for (const { name, url } of about.services) {
            const control = make("input", {
                type: "text", placeholder: url, spellcheck: "false",
                onchange: () => {
                    const hosts = { ...now().hosts };
                    if (control.value.trim() === "") delete hosts[name]; else hosts[name] = control.value.trim();
                    change({ hosts });
                },
            });
            control.value = switches.hosts?.[name] ?? "";
            parts.push(line("Host of " + oneLine(name), control));
        }
        const stubs = make("div");
        (switches.stubs ?? []).forEach((stub, at) => stubs.append(make("p", {},
            "Answers " + oneLine(stub.service || "all services") + " " + oneLine(stub.method || "(all methods)") + " with " + stub.status + " ",
            make("button", { type: "button", text: "Remove", onclick: () => change({ stubs: now().stubs.filter((_, other) => other !== at) }) }))));
        const service = make("select", { "aria-label": "Service of the stub" }, make("option", { value: "", text: "all services" }),
            ...about.services.map(({ name }) => make("option", { value: name, text: oneLine(name) })));
        const method = make("input", { type: "text", placeholder: "method, or empty for all", "aria-label": "Method of the stub" });
        const status = make("input", { type: "number", min: "200", max: "599", "aria-label": "Status of the stub" });
        status.value = 503;
        const body = make("textarea", { "aria-label": "Body of the stub", placeholder: "{\"error\":\"maintenance\"}" });
        const add = make("button", {
            type: "button", text: "Add stub",
            onclick: () => change({ stubs: [...(now().stubs ?? []), { service: service.value, method: method.value.trim(), status: Number(status.value), body: body.value }] }),
        });
        const on = switchWords(switches);
        openDialog("Switches", make("p", { text: on.length === 0 ? "None is on. They act at once, on the calls that begin from now on." : "On: " + on.join(", ") + "." }),
            ...parts, make("h3", { text: "Stubs: an answer in place of the server" }), stubs,
            make("div", { class: "line" }, service, method), make("div", { class: "line" }, status, add), body,
            make("div", { class: "tools" }, make("button", {
                type: "button", text: "All off", disabled: on.length === 0,
                onclick: () => change({ isOffline: false, timesOut: false, delay: 0, failureRate: 0, engine: "", hosts: {}, stubs: [] }),
            }), closeButton()));
    };
    draw();
}

/** Shows a call to be changed and sent again. */
function openSender(app, call, detail) {
    const { request } = detail.exchange;
    const url = new URL(request.url, "https://invalid.");
    const method = make("input", { type: "text", "aria-label": "HTTP method" });
    method.value = request.method;
    const target = make("input", { type: "text", "aria-label": "Path and query", spellcheck: "false" });
    target.value = url.pathname + url.search;
    const fields = make("textarea", { "aria-label": "Fields", spellcheck: "false" });
    fields.value = request.fields.filter(([name]) => !madeFields.has(name.toLowerCase())).map(([name, value]) => name + ": " + value).join("\n");
    const body = make("textarea", { "aria-label": "Body", spellcheck: "false" });
    body.value = bodyIsKept(request) ? request.body ?? "" : "";
    const problem = make("p", { class: "bad", role: "alert" });
    if (!bodyIsKept(request)) problem.textContent = "The body was not kept. Write one, or the request is sent without.";
    const send = async () => {
        try {
            const lines = fields.value.split("\n").filter((line) => line.trim() !== "").map((line) => {
                const at = line.indexOf(":");
                return [line.slice(0, at < 0 ? line.length : at).trim(), at < 0 ? "" : line.slice(at + 1).trim()];
            });
            if ((body.value + fields.value + target.value).match(redactionMark)) {
                throw new Error("A mark in place of a secret is still there: write the value in its place, or remove it.");
            }
            await app.act({ action: "send", service: call.service, method: method.value, target: target.value, fields: lines, body: body.value });
            byID("dialog").close();
            tell("Sent. It is the newest call of the list.");
        } catch (error) { problem.textContent = oneLine(error.message); }
    };
    openDialog("Send again", make("p", { text: "To the service " + oneLine(call.service) + ", through the whole system: with a new signature, and its pins are checked." }),
        make("div", { class: "line" }, method, target), make("h3", { text: "Fields" }), fields, make("h3", { text: "Body" }), body, problem,
        make("div", { class: "tools" }, make("button", { type: "button", class: "primary", text: "Send", onclick: send }), closeButton("Cancel")));
}
