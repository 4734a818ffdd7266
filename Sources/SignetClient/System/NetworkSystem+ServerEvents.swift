import HTTPTypes

extension NetworkSystem {
    /// Returns the events of a call whose response is a `text/event-stream` (WHATWG HTML, section
    /// 9.2). The first connection is made when the first event is asked for.
    ///
    /// - Parameters:
    ///   - call: The call of each connection.
    ///   - options: The options of each connection, which win over the call's own.
    public func serverEvents(
        of call: some TypedCall, options: RequestOptions = RequestOptions()
    ) -> ServerEvents {
        var common: HTTPFields = [.accept: "text/event-stream", .cacheControl: "no-store"]
        for field in options.fields { common[field.name] = nil }
        let given = common
        return ServerEvents(
            connect: { [self] lastID throws(ClientError) in
                var fields = given
                // A field has no line break, so an id that isn't a field's value isn't sent.
                if !lastID.isEmpty, HTTPField.isValidValue(lastID) {
                    fields[.lastEventID] = lastID
                }
                return try await pipeline.stream(
                    call, reading: .any, options: options, adding: fields)
            }, sleep: self.options.clock.sleep)
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
