#if Inspector
public import SignetClient

/// A page on this machine that shows calls, until it is stopped.
///
/// It listens at 127.0.0.1 alone, for the user of the process alone, and a link opens it once.
public final class Inspector: Sendable {
    /// The link that opens the page. It is good once; see ``link()``.
    public let url: String
    private let server: PageServer
    private let access: PageAccess
    private let end: @Sendable () -> Void

    /// - Parameter end: Called when the page is stopped.
    init(
        showing source: any PageSource, user: UInt32, end: @escaping @Sendable () -> Void = {}
    ) async throws(InspectorError) {
        let server = try await PageServer.start()
        let (access, url): (PageAccess, String)
        do throws(InspectorError) {
            access = try PageAccess(user: user, port: server.port)
            url = try access.link()
        } catch {
            await server.stop()
            throw error
        }
        (self.server, self.access, self.url, self.end) = (server, access, url, end)
        let routes = PageRoutes(access: access, source: source)
        server.begin { await routes.answer($0) }
    }

    /// Returns another link, for another browser or after the cookie was lost. It is good once.
    ///
    /// - Throws: `cannot-listen` if there are no random numbers.
    public func link() throws(InspectorError) -> String { try access.link() }

    /// Stops the page, removes what it added to the system, cancels the calls that it sent, and
    /// puts the switches back that it changed.
    public func stop() async {
        await server.stop()
        end()
    }
}

extension NetworkSystem {
    /// Shows the system's calls from now on, on a page for a browser on this machine.
    ///
    /// Open the link that is returned: it is good once. The page works without a network and loads
    /// nothing from elsewhere. It runs until it is stopped, or to the end of the process.
    ///
    /// ```swift
    /// import SignetClient
    /// import SignetInspector
    ///
    /// func look(_ system: NetworkSystem) async throws {
    ///     #if DEBUG
    ///     let page = try await system.inspect()
    ///     print(page.url)  // http://127.0.0.1:50321/?token=…
    ///     #endif
    /// }
    /// ```
    ///
    /// - Throws: `not-switchable` in the run mode production, and so in a release build, unless the
    ///   options ask for it by name; there everything but secrets is shown. `cannot-listen`.
    public func inspect(
        _ options: InspectorOptions = InspectorOptions(), showing values: ShownValues = .redacted
    ) async throws(InspectorError) -> Inspector {
        guard mode != .production || options.showsProduction else {
            throw InspectorError(
                .notSwitchable,
                "found the run mode production, expected staging or development"
                    + " (app.runMode in a debug build), or dangerous.showProduction()")
        }
        guard mode != .production || !values.keepsSecrets else {
            throw InspectorError(
                .notSwitchable,
                "found the run mode production, expected staging or development to show everything")
        }
        let source = SystemSource(self, options: options, showing: values)
        do throws(InspectorError) {
            return try await Inspector(showing: source, user: CurrentUser.id) { source.stop() }
        } catch {
            source.stop()
            throw error
        }
    }
}
#endif
