// The source of calls: a server on this machine, or the page itself.

/** Asks the server that sent the page. Every request carries the token of the page. */
class ServerSource {
    constructor() {
        this.token = document.querySelector("meta[name=signet-token]")?.content ?? "";
        this.isLive = true;
    }

    async ask(path, body) {
        const headers = { "Signet-Token": this.token };
        if (body !== undefined) headers["Content-Type"] = "application/json";
        const response = await fetch(path, {
            method: body === undefined ? "GET" : "POST", headers, cache: "no-store",
            body: body === undefined ? undefined : JSON.stringify(body),
        });
        const answer = await response.json().catch(() => ({}));
        if (!response.ok) throw new Error(answer.error?.message ?? "the program answered with " + response.status);
        return answer;
    }

    /** Takes calls until the program ends. */
    async run(take, state) {
        let revision = 0;
        for (;;) {
            let answer;
            try {
                answer = await this.ask("/api/calls?after=" + revision);
            } catch (error) {
                state("lost", error.message);
                await new Promise((resume) => setTimeout(resume, 1000));
                continue;
            }
            revision = answer.revision;
            // A recording ends; a program that runs may always make another call.
            this.isLive = !answer.isEnded;
            state("live");
            // A mistake of the page says nothing about the connection.
            try { take(answer); } catch (error) { reportError(error); }
            if (answer.isEnded) { state("all"); return; }
        }
    }

    detail(id) { return this.ask("/api/call?id=" + encodeURIComponent(id)); }
    act(action) { return this.ask("/api/act", action); }
}

/** Reads the calls from blocks of JSON in the page, one line for each call. */
class FileSource {
    constructor(blocks) {
        this.blocks = blocks;
        this.isLive = false;
        this.lines = new Map();
    }

    async run(take, state) {
        take({ revision: 0, calls: [], about: JSON.parse(byID("about").textContent) });
        let block = 0, at = 0, text = this.blocks[0]?.textContent ?? "";
        await new Promise((done) => inSlices(() => {
            const end = performance.now() + slice, calls = [];
            while (performance.now() < end) {
                if (at >= text.length) {
                    // A block that was read is needed no longer in the document.
                    this.blocks[block]?.remove();
                    block += 1;
                    if (block >= this.blocks.length) break;
                    at = 0;
                    text = this.blocks[block].textContent;
                    continue;
                }
                let next = text.indexOf("\n", at);
                if (next < 0) next = text.length;
                const line = text.slice(at, next);
                at = next + 1;
                if (line === "") continue;
                const { row } = JSON.parse(line);
                this.lines.set(row.id, line);
                calls.push(prepared(row));
            }
            take({ revision: 0, calls });
            const isDone = block >= this.blocks.length;
            if (isDone) { state("all"); done(); }
            return isDone;
        }));
    }

    async detail(id) { return JSON.parse(this.lines.get(id)).detail; }
    async act() { throw new Error("a page in a file can't act"); }
}

function makeSource() {
    const blocks = [...document.querySelectorAll("script.calls")];
    return byID("about") ? new FileSource(blocks) : new ServerSource();
}
