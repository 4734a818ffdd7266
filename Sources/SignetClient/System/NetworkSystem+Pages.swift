public import SignetRPC

extension NetworkSystem {
    /// Returns the pages of a list, each of which is requested when the reader wants it.
    ///
    /// ```swift
    /// struct Order: Decodable { var item: String }
    ///
    /// func printItems(with system: NetworkSystem) async throws {
    ///     for try await page in system.pages(
    ///         of: RESTRequest(.get, "/orders"), on: "shop", by: .link())
    ///     {
    ///         for order in try page.result?.decode([Order].self) ?? [] { print(order.item) }
    ///     }
    /// }
    /// ```
    ///
    /// A link may lead only to the service's own origin, and only once to the same page. A list
    /// with more pages than the limit is an error. So a server can't send the program to another
    /// host, and can't keep it in an endless list.
    ///
    /// - Parameters:
    ///   - request: The first page's request, with GET; with POST if the cursor is in the body.
    ///   - service: The service that responds; its adapter is one for REST.
    ///   - paging: How the list continues.
    ///   - options: The options of each page's call.
    public func pages(
        of request: RESTRequest, on service: ServiceName, by paging: Paging,
        options: RequestOptions = RequestOptions()
    ) -> ResponsePages<UnboxedResponse> {
        ResponsePages(
            pipeline: pipeline, system: self,
            target: CallTarget(request, on: service, options: options), paging: paging,
            request: { _ throws(ClientError) in .resource(request) },
            value: { response throws(ClientError) in response })
    }

    /// Returns the typed pages of a list, each of which is requested when the reader wants it.
    ///
    /// The first page is the call's own; later ones have the cursor, number or offset in their
    /// parameters, or follow the link. With JSON-RPC, a cursor goes into the parameters, which are
    /// by name:
    ///
    /// ```swift
    /// struct ListOrders: Endpoint {
    ///     var service: ServiceName { "orders" }
    ///     var method: RPCMethod { "orders.list" }
    ///     var limit: Int
    ///     struct Success: Decodable, Sendable { var items: [String] }
    /// }
    ///
    /// func printItems(with system: NetworkSystem) async throws {
    ///     let paging = Paging.cursor(from: .result("next"), to: .parameter("cursor"))
    ///     for try await page in system.pages(of: ListOrders(limit: 50), by: paging) {
    ///         print(page.items)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - call: The first page's call; with REST a GET, or a POST with the cursor in the body.
    ///   - paging: How the list continues.
    ///   - options: The options of each page's call, which win over the call's own.
    public func pages<Call: TypedCall>(
        of call: Call, by paging: Paging, options: RequestOptions = RequestOptions()
    ) -> ResponsePages<Call.Success> {
        ResponsePages(
            pipeline: pipeline, system: self,
            target: CallTarget(call, options: options),
            paging: paging,
            request: { conventions throws(ClientError) in
                try CallRequest(of: call, as: conventions)
            },
            value: { response throws(ClientError) in
                try response.converted { try call.success(from: $0) }
            })
    }
}
