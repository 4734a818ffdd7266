extension CompiledScheme {
    /// What the text that is signed is made of, whatever the settings: what stands in one choice only
    /// does not count.
    struct SignedSources: Sendable {
        private(set) var sources: Set<SchemeTemplate.Source> = []
        private var rules: [ParameterRule] = []

        init(
            text: Step, values: [Step], headers: HeaderRule?, injections: [Carrier]
        ) {
            gather(text, values)
            for carrier in injections where isSigned(carrier.place, headers) {
                for source in carrier.templates.flatMap(\.sources) { add(source, values) }
            }
        }

        /// Whether the time is signed to the second.
        var hasTime: Bool {
            sources.contains { if case .time(let format) = $0 { format.isWhole } else { false } }
        }

        /// Whether a text in that place is part of what is signed.
        private func isSigned(_ place: Place, _ headers: HeaderRule?) -> Bool {
            switch place {
            case .header(let name):
                let name = name.utf8.map(\.lowercased)
                return sources.contains(.header(name))
                    || (sources.contains(.headerLines) && headers?.selects(name) == true)
            case .query(let name):
                return sources.contains(.query) || sources.contains(.target)
                    || rules.contains { $0.origins.contains(.query) && !$0.except.contains(name) }
            case .xml(let name):
                return sources.contains(.body)
                    || rules.contains { $0.origins.contains(.xml) && !$0.except.contains(name) }
            }
        }

        private mutating func add(_ source: SchemeTemplate.Source, _ values: [Step]) {
            guard sources.insert(source).inserted, case .value(let index) = source else { return }
            gather(values[index], values)
        }

        private mutating func gather(_ step: Step, _ values: [Step]) {
            switch step {
            case .template(let template):
                for source in template.sources { add(source, values) }
            case .join(let steps, _): for step in steps { gather(step, values) }
            case .hash(_, let step, _): gather(step, values)
            case .path: sources.insert(.path)
            case .parameters(let rule):
                rules.append(rule)
                for (_, template) in rule.added { gather(.template(template), values) }
            case .choice(let choices):
                var common: Set<SchemeTemplate.Source>?
                for (_, step) in choices {
                    var one = self
                    one.sources = []
                    one.gather(step, values)
                    common = common?.intersection(one.sources) ?? one.sources
                }
                sources.formUnion(common ?? [])
            }
        }
    }
}
