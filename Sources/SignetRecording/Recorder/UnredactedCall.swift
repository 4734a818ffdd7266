/// A call that has ended, with its secrets. It is moved to its store, and never copied.
struct UnredactedCall: ~Copyable, Sendable {
    /// The form of `CallContents`.
    let bytes: [UInt8]
    /// The size in memory in bytes, about, as that of the redacted call.
    let size: Int
    let redaction: CallRedaction

    /// - Parameters:
    ///   - bytes: The form of `CallContents`.
    ///   - count: The number of the call's exchanges.
    init(bytes: consuming [UInt8], exchanges count: Int, redaction: CallRedaction) {
        size = 768 + 1024 * count + bytes.count
        self.bytes = bytes
        self.redaction = redaction
    }

    /// Moves the bytes out.
    consuming func takeBytes() -> [UInt8] { bytes }

    /// Returns the call without secrets; nil if its bytes are damaged.
    func redacted() -> RecordedCall? { redaction.redacted(bytes) }
}

/// The contents of a call, not redacted.
struct CallContents: ByteFormed {
    var exchanges: [CapturedExchange]
    /// The call without its exchanges.
    var call: RecordedCall

    static var blank: Self { .init(exchanges: [], call: .blank) }

    mutating func pass(_ form: inout ByteForm) {
        form.pass(&exchanges)
        form.pass(&call)
    }
}

/// How calls are redacted that were made under one configuration.
struct CallRedaction: Sendable {
    let redactor: ExchangeRedactor
    /// The largest body that is kept, in bytes.
    let bodyLimit: Int

    /// Returns a call without secrets, and without the content codings of its bodies; nil if the
    /// bytes aren't a call.
    func redacted(_ bytes: [UInt8]) -> RecordedCall? {
        guard let contents: CallContents = ByteForm.value(of: bytes) else { return nil }
        var call = contents.call
        call.duration = call.duration?.inMicroseconds
        for index in call.stages.indices {
            call.stages[index].start = call.stages[index].start.inMicroseconds
            call.stages[index].duration = call.stages[index].duration.inMicroseconds
        }
        call.exchanges = contents.exchanges.map {
            redactor.redacted($0.recorded(limit: bodyLimit))
        }
        return redactor.redacted(texts: call)
    }
}

/// A store that redacts calls itself before it keeps or returns them, and seals them until then.
protocol UnredactedCallStore: RecordingStore {
    /// Adds a call that has ended. The call waits for it, so it must not block.
    func add(_ call: consuming UnredactedCall)
}
