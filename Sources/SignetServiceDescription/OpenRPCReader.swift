import SignetJSON
import SignetRPC

/// Reads the methods of an OpenRPC document.
struct OpenRPCReader {
    let document: JSONValue

    func methods() throws(PayloadError) -> [MethodDescription] {
        guard let list = document["methods"]?.array else {
            throw .malformedDescription("methods is not an array")
        }
        var methods: [MethodDescription] = []
        for (index, element) in list.enumerated() {
            // Skip a reference to a method outside the document.
            guard let method = element.resolved(in: document) else { continue }
            guard let name = method["name"]?.string else {
                throw .malformedDescription("methods[\(index)] has no name")
            }
            let structure = method["paramStructure"]?.string
            var parameters: [MethodDescription.Parameter] = []
            var unsupportedReason: String?
            for (position, element) in (method["params"]?.array ?? []).enumerated() {
                guard let parameter = element.resolved(in: document) else {
                    unsupportedReason = "has parameters in another document"
                    continue
                }
                guard let name = parameter["name"]?.string else {
                    throw .malformedDescription("methods[\(index)].params[\(position)] has no name")
                }
                parameters.append(
                    MethodDescription.Parameter(
                        name: name, place: .parameters,
                        isRequired: parameter["required"]?.bool ?? false,
                        schema: ParameterSchema(parameter["schema"] ?? true, in: document),
                        style: nil))
            }
            methods.append(
                MethodDescription(
                    name: name, method: RPCMethod(name), summary: method["summary"]?.string,
                    parameters: parameters,
                    structure: structure.flatMap(MethodDescription.Structure.init) ?? .either,
                    body: nil, bodyTypes: nil, unsupportedReason: unsupportedReason,
                    bodyUnsupportedReason: nil))
        }
        return methods
    }
}

extension JSONValue {
    /// Follows reference objects; returns nil if one leads outside the document.
    func resolved(in document: JSONValue) -> JSONValue? {
        var value = self
        for _ in 0..<16 {
            guard let reference = value["$ref"]?.string else { return value }
            guard let next = document.target(ofReference: reference) else { return nil }
            value = next
        }
        return nil
    }
}
