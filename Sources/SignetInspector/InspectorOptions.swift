#if Inspector

/// The values that the page of a running program shows.
public enum ShownValues: Sendable, Hashable {
    /// All but secrets, in whose places are marks.
    case redacted
    #if DEBUG
    /// Secrets too, such as credentials and whole signature bases, of the calls that start while
    /// the page is there. They stay in the memory of the program and its page: recordings, logs
    /// and copies of a call never have them. Only in debug builds, and not in production.
    case everything
    #endif

    var keepsSecrets: Bool { self != .redacted }
}

/// The choices of a page that shows the calls of a running program.
public struct InspectorOptions: Sendable {
    /// The name of the program, for the page's title.
    public var title = ""
    /// The most calls that are kept; the oldest are dropped. Defaults to 100,000.
    public var maximumCalls = 100_000
    /// The most bytes that the kept contents of calls take, about; the oldest calls are dropped.
    /// Defaults to 128 MiB.
    public var maximumBytes = 128 << 20
    /// Filters that the page offers as buttons, beside its own ones.
    ///
    /// A view that a reader saves on the page is kept by the browser for this run alone, because
    /// the next one has another address.
    public var views: [View] = []
    var showsProduction = false

    /// A filter with a name.
    public struct View: Sendable, Hashable {
        /// The name on the button.
        public var name: String
        /// The filter as it is written on the page, such as `service:orders is:failed`.
        public var filter: String

        /// Names a filter.
        public init(_ name: String, filter: String) {
            self.name = name
            self.filter = filter
        }
    }

    /// The defaults.
    public init() {}

    /// The weak choices, each by its name.
    public var dangerous: Dangerous {
        get { Dangerous(base: self) }
        set { self = newValue.base }
    }

    /// The door to the weak choices.
    public struct Dangerous: Sendable {
        fileprivate var base: InspectorOptions

        /// Shows a system in the run mode production, also in a release build. The page can only
        /// look then: it has no switches and sends nothing. Contents are shown of calls whose
        /// options keep them.
        public mutating func showProduction() { base.showsProduction = true }
    }
}
#endif
