import SignetTransport

/// A list that can be used.
struct AddressListContents: Sendable, Equatable {
    let addresses: [ServiceAddress]
    /// The origin that the list is for; nil for one that isn't signed.
    var origin: WebOrigin?
    /// Both in Unix seconds; nil for a list that isn't signed.
    var issued: Int64?
    var expires: Int64?

    /// The addresses, if the list is for an origin.
    func addresses(for other: WebOrigin) -> [ServiceAddress]? {
        origin == nil || origin == other ? addresses : nil
    }
}
