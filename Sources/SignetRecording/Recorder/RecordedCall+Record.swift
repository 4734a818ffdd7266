import SignetClient

extension RecordedCall {
    /// Makes a call of its record, without its exchanges and with exact durations.
    ///
    /// - Parameters:
    ///   - id: Its number in the recording.
    ///   - started: Unix milliseconds.
    init(_ record: CallRecord, id: Int, started: Int64) {
        let identity = record.identity
        let work = record.work
        self.init(method: identity.method, started: started)
        self.id = id
        service = identity.service.name
        path = identity.path
        tags = identity.tags.sorted()
        mode = work.mode.rawValue
        duration = record.duration
        failure = record.failure?.name
        (message, serverCode) = (record.message, record.serverCode)
        isSimulated = work.isSimulated
        if case .cancelled = record.outcome { isCancelled = true }
        source = record.response?.source
        cache = work.cache.map { use in
            "signet; \(use.decision)" + (use.reason.map { "; detail=\($0)" } ?? "")
        }
        stubs = work.stubs.map { "\($0.place.rawValue) \($0.module)" }
        stages = work.stages.map {
            Stage(
                name: $0.name.description, start: $0.start, duration: $0.duration)
        }
        contents = record.counted.contents.map {
            var contents = Contents(
                stage: $0.stage.description, before: $0.before?.description,
                after: $0.after?.description)
            contents.base = $0.base.map { base in
                SignatureBase(
                    scheme: base.scheme, keyID: base.keyID, text: base.text,
                    parts: base.parts.map { .init(name: $0.name, value: $0.value) })
            }
            return contents
        }
    }
}
