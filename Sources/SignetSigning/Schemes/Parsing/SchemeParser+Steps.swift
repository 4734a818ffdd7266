internal import SignetJSON

extension SchemeParser {
    static let stepKinds = "a text, an array of choices, or one of join, hash, path, parameters"

    /// Reads a piece of text that is made of a message.
    func step(_ value: JSONValue, at place: String) throws(SigningError) -> CompiledScheme.Step {
        let step = try unbounded(value, at: place)
        let weight = weight(of: step)
        guard weight <= SchemeLimits.weight else {
            throw SigningError(
                .malformedScheme,
                "\(place): found \(weight) places once every value is written out, wanted at most "
                    + "\(SchemeLimits.weight)")
        }
        return step
    }

    private func unbounded(
        _ value: JSONValue, at place: String
    ) throws(SigningError) -> CompiledScheme.Step {
        if let text = value.string { return .template(try template(text, at: place)) }
        if value.array != nil { return try choice(value, at: place) }
        guard let object = value.object else {
            throw SchemeReader.wrong(value, at: place, wanted: Self.stepKinds)
        }
        let reader = SchemeReader(object, at: place)
        if reader.has("join") {
            try reader.demand(["join", "with"])
            var steps: [CompiledScheme.Step] = []
            for (part, place) in try reader.array(
                "join", 1...SchemeLimits.joined, of: "parts")
            {
                steps.append(try step(part, at: place))
            }
            return .join(steps, separator: Array(try reader.text("with").utf8))
        }
        if reader.has("hash") {
            try reader.demand(["hash", "of", "as"])
            return .hash(
                try reader.choice("hash"),
                try step(reader.value("of", wanted: Self.stepKinds), at: reader.path("of")),
                try reader.choice("as"))
        }
        if reader.has("path") {
            let path = try reader.requiredObject("path")
            try reader.demand(["path"])
            try path.demand(["normalize", "encode"])
            var normalize: CompiledScheme.Condition?
            if let when = try path.optionalObject("normalize") { normalize = try condition(when) }
            return .path(normalize: normalize, encodes: try path.flag("encode"))
        }
        if reader.has("parameters") {
            try reader.demand(["parameters"])
            return .parameters(try parameterRule(reader.requiredObject("parameters")))
        }
        throw SchemeReader.wrong(value, at: place, wanted: Self.stepKinds)
    }

    /// Choices, of which the last and no other stands without a condition: one always holds.
    private func choice(
        _ value: JSONValue, at place: String
    ) throws(SigningError) -> CompiledScheme.Step {
        let choices = value.array ?? []
        guard (1...SchemeLimits.choices).contains(choices.count) else {
            throw SigningError(
                .malformedScheme,
                "\(place): found an array of \(choices.count), wanted 1 to "
                    + "\(SchemeLimits.choices) choices")
        }
        var result: [(CompiledScheme.Condition, CompiledScheme.Step)] = []
        for (index, choice) in choices.enumerated() {
            let choice = try SchemeReader(choice, at: "\(place)[\(index)]")
            try choice.demand(["when", "is"])
            guard choice.has("when") != (index == choices.count - 1) else {
                throw choice.wrong(
                    "when",
                    wanted: choice.has("when")
                        ? "none in the last choice, which holds where no other does"
                        : "one in every choice but the last")
            }
            result.append(
                (
                    try condition(choice.optionalObject("when")),
                    try step(choice.value("is", wanted: Self.stepKinds), at: choice.path("is"))
                ))
        }
        return .choice(result)
    }

    private func parameterRule(
        _ rule: SchemeReader
    ) throws(SigningError) -> CompiledScheme.ParameterRule {
        typealias Origin = CompiledScheme.ParameterRule.Origin
        try rule.demand([
            "from", "decode", "encode", "skipEmpty", "except", "add", "sort", "assign", "with",
        ])
        var origins: [Origin] = []
        for (text, place) in try rule.texts("from", 1...Origin.allCases.count) {
            guard let origin = Origin.named(text) else {
                throw SchemeReader.wrong(.string(text), at: place, wanted: Origin.known)
            }
            origins.append(origin)
        }
        var added: [(name: [UInt8], value: SchemeTemplate)] = []
        if let add = try rule.optionalObject("add") {
            try add.demand(atMost: SchemeLimits.added, "parameters")
            for name in add.object.memberNames {
                added.append(
                    (Array(name.utf8), try template(add.text(name), at: add.path(name))))
            }
        }
        return CompiledScheme.ParameterRule(
            origins: origins, decodes: try rule.flag("decode"), encodes: try rule.flag("encode"),
            skipsEmpty: try rule.flag("skipEmpty"),
            except: try rule.optionalTexts("except", 0...SchemeLimits.names)?
                .map { Array($0.text.utf8) } ?? [],
            added: added, order: try rule.choice("sort"),
            assign: Array(try rule.optionalText("assign")?.utf8 ?? "=".utf8),
            separator: Array(try rule.optionalText("with")?.utf8 ?? "&".utf8))
    }

    // MARK: Weight

    /// How many places a step has once every value in it is written out.
    private func weight(of step: CompiledScheme.Step) -> Int {
        switch step {
        case .template(let template): return weight(of: template)
        case .join(let steps, _): return steps.reduce(1) { $0 + weight(of: $1) }
        case .hash(_, let step, _): return 1 + weight(of: step)
        case .path: return 1
        case .parameters(let rule): return rule.added.reduce(1) { $0 + weight(of: $1.value) }
        case .choice(let choices): return choices.reduce(1) { max($0, weight(of: $1.1)) }
        }
    }

    private func weight(of template: SchemeTemplate) -> Int {
        // No value weighs more than the limit, so that nothing overflows.
        template.sources.reduce(0) { sum, source in
            if case .value(let index) = source { return sum + 1 + weight(of: values[index].step) }
            return sum + 1
        }
    }
}
