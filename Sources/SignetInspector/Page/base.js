// Small pieces that the other files use. Text becomes text nodes, never markup.

const byID = (id) => document.getElementById(id);

/** A member of an object that isn't inherited; undefined without it. */
const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);

/** Makes an element. `class`, `text` and `on…` are what they say, every other name is an attribute. */
function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (key === "class") element.className = value;
        else if (key === "text") element.textContent = value;
        else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const escaped = (character) => "\\u{" + character.codePointAt(0).toString(16) + "}";

/** The text with escapes in place of control characters and of those that change the direction of writing. */
const printable = (text) => String(text ?? "").replace(unseen, escaped);

/** One line of it. */
const oneLine = (text) => printable(text).replace(/[\n\t]/g, escaped);

/** The first characters of a text for a place that shows one line. */
const short = (text, length = 300) => (text.length > length ? oneLine(text.slice(0, length)) + "…" : oneLine(text));

const showTime = (milliseconds) => {
    if (milliseconds === null || milliseconds === undefined) return "";
    if (milliseconds < 1) return milliseconds.toFixed(2) + " ms";
    if (milliseconds < 10) return milliseconds.toFixed(1) + " ms";
    if (milliseconds < 1000) return Math.round(milliseconds) + " ms";
    if (milliseconds < 60000) return (milliseconds / 1000).toFixed(2) + " s";
    return Math.floor(milliseconds / 60000) + " min " + Math.round((milliseconds % 60000) / 1000) + " s";
};

const showSize = (bytes) => {
    if (bytes === null || bytes === undefined) return "";
    if (bytes < 1000) return bytes + " B";
    if (bytes < 1e6) return (bytes / 1000).toFixed(1) + " kB";
    return (bytes / 1e6).toFixed(1) + " MB";
};

/** Whole seconds in the largest unit that says enough. */
const showSeconds = (seconds) => {
    for (const [length, unit] of [[86400, "days"], [3600, "h"], [60, "min"]]) if (seconds >= 2 * length) return Math.floor(seconds / length) + " " + unit;
    return seconds + " s";
};

const two = (number) => String(number).padStart(2, "0");

/** The time of day, and the whole date as a second text. */
const showClock = (milliseconds) => {
    if (milliseconds === null || milliseconds === undefined) return "";
    const date = new Date(milliseconds);
    return two(date.getHours()) + ":" + two(date.getMinutes()) + ":" + two(date.getSeconds()) + "."
        + String(date.getMilliseconds()).padStart(3, "0");
};
const showDate = (milliseconds) => {
    if (milliseconds === null || milliseconds === undefined) return "";
    const date = new Date(milliseconds);
    return date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate()) + " " + showClock(milliseconds);
};

const plural = (count, word, words = word + "s") => count.toLocaleString("en") + " " + (count === 1 ? word : words);

/** The first value of a message's field; undefined without it. */
const fieldOf = (message, name) => message?.fields.find(([other]) => other.toLowerCase() === name)?.[1];

/** The host and the port of a URL, as they are. */
const hostOf = (url) => /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? "";

/** A message that goes away by itself. */
let noteTimer = 0;
function tell(text) {
    byID("note").textContent = oneLine(text);
    clearTimeout(noteTimer);
    noteTimer = setTimeout(() => byID("note").replaceChildren(), 4000);
}

/** Runs steps until one returns true; the browser paints and takes input between them. */
function inSlices(step) {
    const channel = new MessageChannel();
    let stopped = false;
    channel.port1.onmessage = () => {
        if (stopped) return;
        if (step()) channel.port1.close();
        else channel.port2.postMessage(0);
    };
    channel.port2.postMessage(0);
    return () => { stopped = true; channel.port1.close(); };
}

/** The time of our own work before the browser gets its turn, in milliseconds. */
const slice = 8;

/** Opens the dialog with a title and content. */
function openDialog(title, ...content) {
    const dialog = byID("dialog");
    dialog.className = "";
    // The title has the focus, so that what is below doesn't scroll away from it.
    dialog.replaceChildren(make("h2", { id: "dialog-title", text: title, tabindex: "-1", autofocus: true }), ...content);
    if (!dialog.open) dialog.showModal();
}
const closeButton = (text = "Close") => make("button", { type: "button", text, onclick: () => byID("dialog").close() });

async function copy(text, what) {
    try {
        await navigator.clipboard.writeText(text);
        tell("Copied: " + what);
    } catch {
        const area = make("textarea", { readonly: true, "aria-label": what });
        area.value = text;
        openDialog("Copy this: " + what, area, make("div", { class: "tools" }, closeButton()));
        area.select();
    }
}

/** Reads storage of the browser, which a page from a file may not have. */
const memory = {
    read(key, otherwise) {
        try { return JSON.parse(localStorage.getItem("signet." + key)) ?? otherwise; } catch { return otherwise; }
    },
    write(key, value) {
        try { localStorage.setItem("signet." + key, JSON.stringify(value)); } catch { /* kept for this page alone */ }
    },
};
