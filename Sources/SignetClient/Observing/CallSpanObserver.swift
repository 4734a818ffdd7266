import SignetTransport

/// Sees where calls begin and end, and nothing between. No event is made for it, and no record.
package protocol CallSpanObserver: Sendable {
    /// A call was admitted.
    func begin(_ call: CallIdentity)

    /// A call that began has ended. The caller gets its outcome afterwards.
    func end(_ call: CallSummary)
}

/// The parts of a call's record that a recording keeps beside its exchanges.
package struct CallSummary: Sendable {
    package let identity: CallIdentity
    package let mode: RunMode
    package let outcome: CallRecord.Outcome
    package let message: String?
    package let serverCode: String?
    package let duration: Duration
    package let source: ResponseSource?
    package let cache: CacheUse?
    package let joinedCall: CallIdentity.ID?
    package let isSimulated: Bool
    package let stubs: [CallRecord.StubUse]
    package let stages: [CallRecord.Stage]
    package let contents: [StageContents]
}

extension CallSummary {
    init(_ record: CallRecord) {
        let work = record.work
        self.init(
            identity: record.identity, mode: work.mode, outcome: record.outcome,
            message: record.message, serverCode: record.serverCode, duration: record.duration,
            source: record.response?.source, cache: work.cache, joinedCall: work.joinedCall,
            isSimulated: work.isSimulated, stubs: work.stubs, stages: work.stages,
            contents: record.counted.contents)
    }
}
