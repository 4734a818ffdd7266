import SignetBase

extension CompiledScheme {
    /// The sources that the signature depends on, whatever the settings are: those of the signed
    /// text, and those that make the key or surround the secret. If there are several choices, only
    /// the sources that occur in all of them count.
    struct SignedSources: Sendable {
        private(set) var sources: Set<SchemeTemplate.Source> = []
        private var rules: [ParameterRule] = []

        private init() {}

        init(of parsed: SchemeParser) {
            // A value can use only earlier ones, so each is gathered once.
            var values: [SignedSources] = []
            for value in parsed.values {
                var gathered = SignedSources()
                gathered.gather(value.step, values: values)
                values.append(gathered)
            }
            gather(parsed.text, values: values)
            for template in parsed.algorithm.templates {
                gather(.template(template), values: values)
            }
            for slot in parsed.injections where isSigned(slot.location, headers: parsed.headers) {
                for template in slot.templates { gather(.template(template), values: values) }
            }
        }

        /// Whether the signature depends on the time to the second.
        var hasTime: Bool {
            sources.contains(where: \.isTimeToTheSecond)
        }

        /// Whether the signature covers a text in this location.
        func isSigned(_ location: Location, headers: HeaderRule?) -> Bool {
            switch location {
            case .header(let name):
                let name = name.utf8.map(\.lowercased)
                return sources.contains(.header(name))
                    || (sources.contains(.headerLines) && headers?.selects(name) == true)
            case .query(let name):
                return sources.contains(.query) || sources.contains(.target)
                    || rules.contains { $0.origins.contains(.query) && !$0.except.contains(name) }
            case .form(let name):
                return sources.contains(.body)
                    || rules.contains { $0.origins.contains(.form) && !$0.except.contains(name) }
            case .xml(let name):
                return sources.contains(.body)
                    || rules.contains { $0.origins.contains(.xml) && !$0.except.contains(name) }
            }
        }

        private mutating func gather(_ step: Step, values: [SignedSources]) {
            switch step {
            case .template(let template):
                for source in template.sources where sources.insert(source).inserted {
                    guard case .value(let index) = source else { continue }
                    sources.formUnion(values[index].sources)
                    rules += values[index].rules
                }
            case .join(let steps, _): for step in steps { gather(step, values: values) }
            case .hash(_, let step, _): gather(step, values: values)
            case .path: sources.insert(.path)
            case .parameters(let rule):
                rules.append(rule)
                for (_, template) in rule.added { gather(.template(template), values: values) }
            case .choice(let choices):
                var common: Set<SchemeTemplate.Source>?
                for (_, step) in choices {
                    var one = self
                    one.sources = []
                    one.gather(step, values: values)
                    common = common?.intersection(one.sources) ?? one.sources
                }
                sources.formUnion(common ?? [])
            }
        }
    }
}
