public import HTTPTypes
public import SignetJSON

/// A named set of fields and parameters that calls of a service carry together.
///
/// A call names the sets that it wants in ``RequestOptions/sets``; without that it carries the
/// service's ``ServiceConfiguration/defaultSets``.
///
/// ```swift
/// var service = ServiceConfiguration(
///     baseURL: "https://api.example.com", payloadProtocol: .rest,
///     commonParameters: ["app": "shop"])
/// service.sets["php"] = RequestDefaults(parameters: ["format": "json"])
/// var options = RequestOptions()
/// options.sets = [RequestDefaults.common, "php"]  // ?app=shop&format=json
/// options.sets = []  // no set at all
/// ```
public struct RequestDefaults: Sendable, Hashable {
    /// The name of the set that `commonFields` and `commonParameters` of a service are.
    public static let common = "common"

    /// The set's fields.
    public var fields: HTTPFields
    /// The set's parameters by name; a call's own of the same name win.
    public var parameters: JSONObject

    /// Creates a set.
    public init(fields: HTTPFields = [:], parameters: JSONObject = [:]) {
        self.fields = fields
        self.parameters = parameters
    }

    /// Adds another set, whose values win.
    mutating func join(_ later: RequestDefaults) {
        for field in later.fields { fields[field.name] = nil }
        fields.append(contentsOf: later.fields)
        for (name, value) in later.parameters { parameters[name] = value }
    }
}
