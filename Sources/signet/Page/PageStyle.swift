#if Tool
/// The style of pages: light or dark as the reader's system is, and black on white on paper.
enum PageStyle {
    /// The text of the element, whose digest the page's policy names.
    static var text: String { html.text }

    /// The element's content; it has no character that HTML would take for its own.
    static let html: HTML = """
        :root{--page:#fff;--text:#1b1f24;--faint:#57606a;--line:#d0d7de;--band:#eef3f8;\
        --good:#1a7f37;--warning:#8a5200;--bad:#b3261e;--idle:#57606a;--now:#0550ae}
        @media (prefers-color-scheme:dark){:root{--page:#14181d;--text:#e6edf3;--faint:#a5b0bb;\
        --line:#3a434d;--band:#1e2731;--good:#56d364;--warning:#e3b341;--bad:#ff8a80;--idle:#a5b0bb;\
        --now:#79b8ff}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:72rem;padding:1.5rem;background:var(--page);color:var(--text);\
        font:16px/1.5 system-ui,sans-serif}
        h1{font-size:1.6rem;margin:0 0 .25rem}
        h2{font-size:1.2rem;margin:2rem 0 .5rem}
        p{margin:0 0 .75rem}
        dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}
        dt{color:var(--faint)}
        dd{margin:0;overflow-wrap:anywhere}
        .wide{overflow-x:auto}
        .wide:focus-visible{outline:2px solid var(--now)}
        table{border-collapse:collapse;width:100%;font-size:.9rem}
        th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid var(--line);\
        overflow-wrap:anywhere;min-width:5rem}
        th{overflow-wrap:break-word}
        tbody th{font-weight:600}
        code{font:.85rem ui-monospace,monospace}
        .state{font-weight:600;white-space:nowrap}
        .date{white-space:nowrap}
        summary{cursor:pointer}
        span.good{color:var(--good)}span.warning{color:var(--warning)}span.bad{color:var(--bad)}\
        span.idle{color:var(--idle)}
        svg{display:block;width:100%;min-width:44rem;height:auto}
        svg text{fill:var(--text);font:13px system-ui,sans-serif}
        svg .faint{fill:var(--faint);font-size:12px}
        svg .group{font-weight:600}
        svg .tick{stroke:var(--line)}
        svg .band{fill:var(--band)}
        svg .now{stroke:var(--now);stroke-width:2}
        svg text.now{fill:var(--now);stroke:none;font-weight:600}
        svg .bar.good{fill:var(--good)}svg .bar.warning{fill:var(--warning)}\
        svg .bar.bad{fill:var(--bad)}svg .bar.idle{fill:var(--idle)}
        svg .open{fill:none;stroke-width:2;stroke-dasharray:6 4}
        svg .open.good{stroke:var(--good)}svg .open.warning{stroke:var(--warning)}\
        svg .open.bad{stroke:var(--bad)}svg .open.idle{stroke:var(--idle)}
        @media screen and (max-width:45rem){body{padding:1rem}table,tbody,tr,th,td{display:block}\
        thead{display:none}tr{padding:.5rem 0;border-bottom:1px solid var(--line)}\
        th,td{padding:.1rem 0;border:0}\
        td::before{content:attr(data-column) ": ";color:var(--faint)}}
        @media print{:root{--page:#fff;--text:#000;--faint:#333;--line:#999;--band:#eee;--good:#0a5c22;\
        --warning:#6b4000;--bad:#8c1d18;--idle:#444;--now:#003a80}
        body{max-width:none;padding:0;font-size:11pt}
        .wide{overflow:visible}svg{min-width:0}thead{display:table-header-group}\
        tr,svg,h2{break-inside:avoid}h2{break-after:avoid}
        *{-webkit-print-color-adjust:exact;print-color-adjust:exact}}

        """
}
#endif
