/// The merging of calls of a JSON-RPC 2.0 service into batches.
///
/// While a call of the service is out, those that come wait, and leave together as one batch when
/// it returns. A call that comes while none is out leaves at once, alone, so calls that come one
/// after another are as fast as without merging.
///
/// ```swift
/// func orders(at url: String) -> ServiceConfiguration {
///     var service = ServiceConfiguration(baseURL: url, payloadProtocol: .jsonRPC2)
///     service.options.merging = CallMerging(maximumCalls: 50)
///     return service
/// }
/// ```
///
/// Each call keeps its own outcome, deadline, cancellation, response checks, interceptors and
/// record. The work of a batch ends when none of its calls waits for it any longer. Only calls with
/// equal options share a request: the same credentials, certificate, fields, sets, scenario, limits
/// and base URL. A call goes alone if its endpoint or its caller gave it interceptors, or if it has
/// a progress, stubs, the cache `http` or the duplicate policy `join`, or is made by an interceptor
/// or a credential source of another merged call.
///
/// A batch has the limits of one call: its attempts, the time for each of them, and the largest
/// response. Each attempt sends the calls that still wait, until a server may have processed one;
/// then the same request is repeated. The batch has the task-local values of its first call. A
/// server that doesn't know batches refuses all calls of one.
public struct CallMerging: Sendable, Hashable {
    /// The largest number of calls in a request, 2...100, and at most the adapter's
    /// `maximumBatchCount`; further ones leave in another. Defaults to 100.
    public var maximumCalls: Int
    /// The largest size in bytes of a request's calls together; a call that is larger goes alone.
    /// Defaults to 256 KiB.
    public var maximumBytes: Int
    /// The longest time that a call waits for one that is out. Then it leaves, although the other
    /// one has not returned. Defaults to one second.
    public var maximumWait: Duration
    /// Whether calls are merged.
    let isOn: Bool

    /// Creates limits.
    public init(
        maximumCalls: Int = 100, maximumBytes: Int = 256 << 10, maximumWait: Duration = .seconds(1)
    ) {
        (self.maximumCalls, self.maximumBytes) = (maximumCalls, maximumBytes)
        self.maximumWait = maximumWait
        isOn = true
    }

    private init() { (maximumCalls, maximumBytes, maximumWait, isOn) = (2, 1, .seconds(1), false) }

    /// Each call has a request of its own, whatever its service says.
    public static let never = CallMerging()

    /// Why the limits can't be used; nil if they can.
    var problem: String? {
        if !(2...100).contains(maximumCalls) {
            return "maximumCalls is \(maximumCalls), expected 2...100"
        }
        if maximumBytes < 1 { return "maximumBytes is not above zero" }
        if maximumWait <= .zero { return "maximumWait is not above zero" }
        return nil
    }
}
