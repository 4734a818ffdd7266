import HTTPTypes
import SignetClient
import SignetCurl
import SignetTransport

/// Messages and summaries as they pass, in the forms of `CapturedExchange` and `RecordedCall`,
/// which aren't made for it.
extension ByteForm {
    /// Writes the form of a `CapturedRequest` but for its body.
    mutating func write(_ request: HTTPRequest) {
        write(request.method.rawValue)
        write(request.scheme)
        write(request.authority)
        write(request.path)
        write(request.headerFields)
    }

    /// Writes the form of a `CapturedExchange.Response` but for its body.
    mutating func write(_ response: HTTPResponse, version: EngineResponse.HTTPVersion) {
        write(response.status.code)
        write(response.status.reasonPhrase)
        write(version.major)
        write(version.minor)
        write(response.headerFields)
    }

    /// Writes fields as an array of `RecordedField`.
    private mutating func write(_ fields: HTTPFields) {
        for field in fields {
            beginElement()
            write(field.name.rawName)
            write(valueOf: field)
        }
        endArray()
    }

    /// Writes the form of a `CapturedBytes`.
    mutating func write(_ body: CapturedBytes) {
        var body = body
        pass(&body)
    }

    /// Writes what the form of a `CapturedExchange` has after the messages.
    mutating func writeEnd(
        timings: Timings = Timings(), failure: String? = nil, message: String? = nil,
        source: ResponseSource = .server, engine: EngineUse? = nil, address: AddressUse? = nil,
        isSigned: Bool = false, pins: PinUse?
    ) {
        write(timings.nameResolved)
        write(timings.connected)
        write(timings.tunnelled)
        write(timings.secured)
        write(timings.firstByte)
        write(timings.total)
        write(failure)
        write(message)
        write(source.rawValue)
        write(engine?.description)
        var address = address.map { use in
            RecordedExchange.Address(use.address, reason: use.reason.name, failed: use.failed)
        }
        pass(&address)
        write(isSigned)
        var pins = pins.map { use in
            RecordedExchange.Pins(
                seen: use.seen.map(\.pin.text), wanted: use.wanted.map(\.text),
                isMatch: use.isMatch)
        }
        pass(&pins)
    }

    /// Writes the form of a `RecordedCall`, with exact durations.
    ///
    /// - Parameters:
    ///   - id: Its number in the recording.
    ///   - started: Unix milliseconds.
    ///   - joined: The number of the call whose work it shared.
    mutating func write(_ call: CallSummary, id: Int, started: Int64, joined: Int?) {
        let identity = call.identity
        write(id)
        write(identity.service.name as String?)
        write(identity.method)
        write(identity.path)
        var tags = identity.tags.isEmpty ? [] : identity.tags.sorted()
        pass(&tags)
        write(call.mode.rawValue as String?)
        write(started)
        write(true)
        write(call.duration)
        write(call.outcome.code?.name)
        write(call.message)
        write(call.serverCode)
        write(call.isSimulated)
        if case .cancelled = call.outcome { write(true) } else { write(false) }
        write(call.source?.rawValue)
        write(
            call.cache.map { use in
                "signet; \(use.decision)" + (use.reason.map { "; detail=\($0)" } ?? "")
            })
        var joined = joined
        pass(&joined)
        var stubs = call.stubs.map { "\($0.place.rawValue) \($0.module)" }
        pass(&stubs)
        for stage in call.stages {
            beginElement()
            write(stage.name.description)
            write(stage.start)
            write(stage.duration)
        }
        endArray()
        var contents = call.contents.map(RecordedCall.Contents.init)
        pass(&contents)
    }
}

extension RecordedCall.Contents {
    fileprivate init(_ contents: StageContents) {
        self.init(
            stage: contents.stage.description, before: contents.before?.description,
            after: contents.after?.description)
        base = contents.base.map { base in
            RecordedCall.SignatureBase(
                scheme: base.scheme, keyID: base.keyID, text: base.text,
                parts: base.parts.map { .init(name: $0.name, value: $0.value) })
        }
    }
}
