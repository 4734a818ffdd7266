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
    const now = () => app.about.switches ?? {};
    const problem = make("p", { class: "bad", role: "alert" });
    const summary = make("p", { role: "status" });
    const stubs = make("div");
    const updates = [];
    // What is being written stays: only controls without the keyboard get the program's values.
    const put = (control, name, value) => { if (document.activeElement !== control) control[name] = value; };
    const update = () => {
        const on = switchWords(now());
        summary.textContent = on.length === 0 ? "None is on. They act at once, on the calls that begin from now on." : "On: " + on.join(", ") + ".";
        off.disabled = on.length === 0;
        for (const change of updates) change();
        stubs.replaceChildren(...(now().stubs ?? []).map((stub, at) => make("p", {},
            "Answers " + oneLine(stub.service || "all services") + " " + oneLine(stub.method || "(all methods)") + " with " + stub.status + " ",
            make("button", { type: "button", text: "Remove", onclick: () => change({ stubs: now().stubs.filter((_, other) => other !== at) }) }))));
    };
    const act = async (action) => {
        try {
            await app.act(action);
            problem.textContent = "";
        } catch (error) { problem.textContent = oneLine(error.message); }
        update();
    };
    const change = (switches) => act({ action: "switches", switches });
    const line = (label, control, help) => {
        control.id = "switch-" + label.replace(/\W+/g, "-");
        return make("div", { class: "line" }, make("label", { for: control.id, text: label }), make("div", {}, control, help ? make("span", { class: "faint", text: " " + help }) : null));
    };
    const box = (name) => {
        const control = make("input", { type: "checkbox", onchange: () => change({ [name]: control.checked }) });
        updates.push(() => { control.checked = now()[name]; });
        return control;
    };
    const number = (name, factor, attributes) => {
        const control = make("input", { type: "number", min: "0", ...attributes, onchange: () => change({ [name]: Math.max(0, Number(control.value)) / factor }) });
        updates.push(() => put(control, "value", Math.round(now()[name] * factor)));
        return control;
    };
    const engine = make("select", { onchange: () => change({ engine: engine.value }) },
        make("option", { value: "", text: "as the program chooses" }), ...about.engines.map((name) => make("option", { value: name, text: oneLine(name) })));
    updates.push(() => put(engine, "value", now().engine ?? ""));
    const parts = [
        line("Offline", box("isOffline"), "every request fails with offline"),
        line("Timeout", box("timesOut"), "every request fails with timeout, at once"),
        line("Slow, ms", number("delay", 1, { step: "100" }), "before each request"),
        line("Failures, %", number("failureRate", 100, { max: "100", step: "5" }), "of the requests fail with a broken connection"),
        line("Engine", engine),
    ];
    for (const { name, url } of about.services) {
        const control = make("input", {
            type: "text", placeholder: "empty: " + url, spellcheck: "false", onchange: () => change({ hosts: { [name]: control.value.trim() } }),
        });
        updates.push(() => put(control, "value", own(now().hosts ?? {}, name) ?? ""));
        parts.push(line("Host of " + oneLine(name), control));
    }
    const service = make("select", {}, make("option", { value: "", text: "all services" }),
        ...about.services.map(({ name }) => make("option", { value: name, text: oneLine(name) })));
    const method = make("input", { type: "text", placeholder: "empty: all methods" });
    const status = make("input", { type: "number", min: "200", max: "599" });
    status.value = 503;
    const body = make("textarea", { placeholder: "such as {\"error\":\"maintenance\"}" });
    const add = make("button", {
        type: "button", text: "Add stub",
        onclick: () => change({ stubs: [...(now().stubs ?? []), { service: service.value, method: method.value.trim(), status: Number(status.value), body: body.value }] }),
    });
    const off = make("button", { type: "button", text: "All off", onclick: () => act({ action: "all-off" }) });
    update();
    openDialog("Switches", summary, problem, ...parts, make("h3", { text: "Stubs: an answer in place of the server" }), stubs,
        line("Service", service), line("Method", method), line("Status", status), line("Body", body),
        make("div", { class: "tools" }, add, off, closeButton()));
}

/** Shows a call to be changed and sent again. */
function openSender(app, call, detail) {
    const { again } = detail;
    const method = make("input", { type: "text", "aria-label": again.isRPC ? "Procedure" : "HTTP method" });
    method.value = again.method;
    const target = make("input", { type: "text", "aria-label": "Path and query", spellcheck: "false", hidden: again.isRPC && !again.target });
    target.value = again.target ?? "";
    const fields = make("textarea", { "aria-label": "Fields", spellcheck: "false" });
    fields.value = again.fields.map(([name, value]) => name + ": " + value).join("\n");
    const body = make("textarea", { "aria-label": again.isRPC ? "Parameters" : "Body", spellcheck: "false" });
    body.value = again.body;
    const problem = make("p", { class: "bad", role: "alert" });
    const send = async () => {
        try {
            const lines = fields.value.split("\n").filter((line) => line.trim() !== "").map((line) => {
                const at = line.indexOf(":");
                return [line.slice(0, at < 0 ? line.length : at).trim(), at < 0 ? "" : line.slice(at + 1).trim()];
            });
            const action = { action: "send", service: call.service, method: method.value, body: body.value };
            if (again.isRPC) Object.assign(action, { isRPC: true }, target.value ? { target: target.value } : {});
            else Object.assign(action, { target: target.value, fields: lines });
            await app.act(action);
            byID("dialog").close();
            tell("Sent. It is the newest call of the list.");
        } catch (error) { problem.textContent = oneLine(error.message); }
    };
    openDialog("Send again", make("p", { text: "To the service " + oneLine(call.service) + ", through the whole system: with a new signature, and its pins are checked." }),
        make("div", { class: "line" }, method, target), ...(again.isRPC ? [] : [make("h3", { text: "Fields" }), fields]),
        make("h3", { text: again.isRPC ? "Parameters" : "Body" }), body, problem,
        make("div", { class: "tools" }, make("button", { type: "button", class: "primary", text: "Send", onclick: send }), closeButton("Cancel")));
}
