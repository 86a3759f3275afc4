//! The policy of a production: pods without rights, with bounds and probes, and what surrounds them. Each rule is
//! also held against an object that breaks it.

use serde_json::{Value, json};

use super::{ALL, Objects, SERVERS, plain, pod, text, with};

/// Endings of the names of settings that are secrets.
const SECRETS: [&str; 5] = ["URL", "PASSWORD", "SECRET", "CODE", "KEYS"];

/// Rules, each with whether it is kept, and the words for when it is not.
type Rules = Vec<(bool, String)>;

/// Returns the words of the rules that are not kept.
fn broken(rules: Rules) -> Vec<String> {
    let broken = rules.into_iter().filter(|(kept, _)| !kept);
    broken.map(|(_, words)| words).collect()
}

/// Calls `rules` for each container of each pod, with its pod. Every rule must be kept.
fn each_container(rules: impl Fn(&Value, &Value) -> Rules) {
    let mut seen = 0;
    for rendering in ALL.iter() {
        for (name, object) in &rendering.objects {
            let Some(pod) = pod(object) else { continue };
            for container in containers(&pod["spec"]) {
                let broken = broken(rules(&pod["spec"], container));
                let place = format!("{}: {name}: {}", rendering.name, text(&container["name"]));
                assert!(broken.is_empty(), "{place}: {broken:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "only {seen} containers");
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["initContainers", "containers"];
    lists
        .into_iter()
        .flat_map(|list| pod[list].as_array().into_iter().flatten())
}

/// Breaks the pod of the gateway once at each place, and finds the words.
fn finds_each(rules: impl Fn(&Value, &Value) -> Rules, ways: &[(&str, Value, &str)]) {
    let good = &ALL[0].objects["Deployment gateway"]["spec"]["template"]["spec"];
    for (place, value, words) in ways {
        let bad = with(good, place, value);
        let broken = broken(rules(&bad, &bad["containers"][0])).join("; ");
        assert!(broken.contains(words), "{place} {value}: {broken:?}");
    }
}

/// Rights that a container must not have.
fn rights(pod: &Value, container: &Value) -> Rules {
    let (shared, own) = (&pod["securityContext"], &container["securityContext"]);
    let mut rules: Rules = [
        (shared["runAsNonRoot"] == true, "it may run as root"),
        (shared["runAsUser"].as_u64() > Some(0), "it runs as root"),
        (
            shared["seccompProfile"]["type"] == "RuntimeDefault",
            "it may call anything",
        ),
        (
            own["readOnlyRootFilesystem"] == true,
            "it may write to its image",
        ),
        (
            own["allowPrivilegeEscalation"] == false,
            "it may gain rights",
        ),
        (
            own["capabilities"] == json!({"drop": ["ALL"]}),
            "it has capabilities",
        ),
        (own["privileged"].is_null(), "it is privileged"),
        (own["runAsUser"].is_null(), "it has a user of its own"),
        (
            pod["automountServiceAccountToken"] == false,
            "it has a token of the cluster",
        ),
    ]
    .map(|(kept, words)| (kept, words.to_owned()))
    .into();
    for host in ["hostNetwork", "hostPID", "hostIPC"] {
        rules.push((pod[host].is_null(), format!("it has {host}")));
    }
    for volume in pod["volumes"].as_array().into_iter().flatten() {
        let kept = volume["hostPath"].is_null();
        rules.push((kept, "it has a folder of its node".to_owned()));
    }
    rules
}

#[test]
fn no_pod_has_more_rights_than_it_needs() {
    each_container(rights);
}

#[test]
fn each_right_too_many_is_found() {
    let own = |name: &str| format!("/containers/0/securityContext/{name}");
    finds_each(
        rights,
        &[
            (
                "/securityContext/runAsNonRoot",
                json!(false),
                "may run as root",
            ),
            ("/securityContext/runAsUser", json!(0), "it runs as root"),
            (
                "/securityContext/seccompProfile/type",
                json!("Unconfined"),
                "may call anything",
            ),
            (
                &own("readOnlyRootFilesystem"),
                json!(false),
                "write to its image",
            ),
            (&own("allowPrivilegeEscalation"), json!(true), "gain rights"),
            (
                &own("capabilities"),
                json!({"drop": ["ALL"], "add": ["NET_ADMIN"]}),
                "capabilities",
            ),
            (&own("privileged"), json!(true), "privileged"),
            (&own("runAsUser"), json!(0), "a user of its own"),
            ("/automountServiceAccountToken", json!(true), "token"),
            ("/hostNetwork", json!(true), "hostNetwork"),
            ("/hostPID", json!(true), "hostPID"),
            ("/hostIPC", json!(true), "hostIPC"),
            (
                "/volumes",
                json!([{"name": "all", "hostPath": {"path": "/"}}]),
                "folder of its node",
            ),
        ],
    );
}

/// Bounds and an exact image, and no secret in the environment.
fn bounds(_: &Value, container: &Value) -> Rules {
    let resources = &container["resources"];
    let mut rules: Rules = ["/requests/cpu", "/requests/memory", "/limits/memory"]
        .map(|amount| {
            let given = resources.pointer(amount).is_some_and(Value::is_string);
            (given, format!("it has no {amount}"))
        })
        .into();
    // The tag stands behind the last slash; a port of a registry does not.
    let image = text(&container["image"]).rsplit('/').next().unwrap();
    let tag = image.split_once(':').map(|(_, tag)| tag);
    let exact = tag.is_some_and(|tag| tag != "latest");
    rules.push((exact, format!("{image} may be anything")));
    let stores = text(&container["name"]).contains("postgres");
    for setting in container["env"].as_array().into_iter().flatten() {
        let name = text(&setting["name"]);
        let secret = SECRETS.iter().any(|end| name.ends_with(end));
        rules.push((!secret || stores, format!("{name} is in its environment")));
    }
    rules
}

#[test]
fn each_container_has_bounds_and_an_exact_image() {
    each_container(bounds);
}

#[test]
fn what_has_no_bounds_is_found() {
    let of = |what: &str| format!("/containers/0/{what}");
    let env = json!([{"name": "ADMIN_CODE", "value": "1234"}]);
    finds_each(
        bounds,
        &[
            (&of("resources/requests/cpu"), Value::Null, "/requests/cpu"),
            (
                &of("resources/requests/memory"),
                Value::Null,
                "/requests/memory",
            ),
            (
                &of("resources/limits/memory"),
                Value::Null,
                "/limits/memory",
            ),
            (
                &of("image"),
                json!("registry:5000/gateway"),
                "may be anything",
            ),
            (&of("image"), json!("gateway:latest"), "may be anything"),
            (&of("env"), env, "ADMIN_CODE is in its environment"),
        ],
    );
}

/// Three probes; the one that ends a container asks only whether it lives.
fn probes(_: &Value, container: &Value) -> Rules {
    let mut rules: Rules = ["startupProbe", "livenessProbe", "readinessProbe"]
        .map(|probe| {
            let asks = &container[probe];
            let asked = asks["httpGet"].is_object() || asks["exec"].is_object();
            (asked, format!("it has no {probe}"))
        })
        .into();
    // Whoever is not ready waits for somebody else, and an end would not help.
    let live = &container["livenessProbe"]["httpGet"]["path"];
    let lives = live.is_null() || live == "/livez";
    rules.push((lives, format!("{live} ends it")));
    rules
}

#[test]
fn each_server_answers_three_probes() {
    for rendering in ALL.iter() {
        for (name, object) in &rendering.objects {
            if object["kind"] != "Deployment" {
                continue;
            }
            let pod = &object["spec"]["template"]["spec"];
            for container in pod["containers"].as_array().unwrap() {
                let broken = broken(probes(pod, container));
                assert!(broken.is_empty(), "{}: {name}: {broken:?}", rendering.name);
            }
        }
    }
}

#[test]
fn a_missing_probe_is_found() {
    let of = |what: &str| format!("/containers/0/{what}");
    let ready = json!("/readyz");
    finds_each(
        probes,
        &[
            (&of("startupProbe"), Value::Null, "startupProbe"),
            (&of("livenessProbe"), Value::Null, "livenessProbe"),
            (&of("readinessProbe"), Value::Null, "readinessProbe"),
            (&of("livenessProbe/httpGet/path"), ready, "ends it"),
        ],
    );
}

/// What stands around a server: a budget, policies of the network, a class, a spread.
fn surroundings(service: &str, objects: &Objects) -> Rules {
    let deployment = &objects[&format!("Deployment {service}")]["spec"];
    let selector = &deployment["selector"];
    let of = &deployment["template"]["metadata"]["labels"]["app.kubernetes.io/name"];
    let spec = |kind: &str| Some(&objects.get(&format!("{kind} {service}"))?["spec"]);
    let budget = spec("PodDisruptionBudget").is_some_and(|spec| spec["selector"] == *selector);
    let policy = spec("NetworkPolicy").is_some_and(|spec| spec["podSelector"] == *selector);
    let denies = json!({"podSelector": {}, "policyTypes": ["Ingress", "Egress"]});
    let denied = objects.get("NetworkPolicy default-deny");
    let pod = &deployment["template"]["spec"];
    let class = pod["priorityClassName"].as_str().unwrap_or_default();
    let spread = pod["topologySpreadConstraints"].as_array();
    let spread = spread.into_iter().flatten();
    let spread: Vec<&Value> = spread.map(|one| &one["topologyKey"]).collect();
    let everywhere = spread == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"];
    vec![
        (of == service, "it has another name".to_owned()),
        (budget, "it has no budget".to_owned()),
        (policy, "it has no policy of its own".to_owned()),
        (
            denied.is_some_and(|all| all["spec"] == denies),
            "not everything else is denied".to_owned(),
        ),
        (
            objects.contains_key(&format!("PriorityClass {class}")),
            format!("there is no class {class:?}"),
        ),
        (everywhere, format!("it is spread over {spread:?}")),
    ]
}

#[test]
fn each_server_has_a_budget_a_class_a_spread_and_policies() {
    for rendering in ALL.iter() {
        let objects = plain(rendering.objects.clone());
        for service in SERVERS {
            let broken = broken(surroundings(service, &objects));
            assert!(
                broken.is_empty(),
                "{}: {service}: {broken:?}",
                rendering.name
            );
        }
    }
}

#[test]
fn what_is_missing_around_a_server_is_found() {
    let good = plain(ALL[0].objects.clone());
    for (object, place, value, words) in [
        (
            "PodDisruptionBudget gateway",
            "/spec/selector",
            json!({}),
            "no budget",
        ),
        (
            "NetworkPolicy gateway",
            "/spec/podSelector",
            json!({}),
            "no policy of its own",
        ),
        (
            "NetworkPolicy default-deny",
            "/spec/policyTypes",
            json!(["Ingress"]),
            "denied",
        ),
        (
            "Deployment gateway",
            "/spec/template/spec/priorityClassName",
            Value::Null,
            "no class",
        ),
        (
            "Deployment gateway",
            "/spec/template/spec/topologySpreadConstraints",
            json!([]),
            "spread",
        ),
    ] {
        let mut bad = good.clone();
        bad.insert(object.to_owned(), with(&good[object], place, &value));
        let found = broken(surroundings("gateway", &bad)).join("; ");
        assert!(found.contains(words), "{object} {place}: {found:?}");
    }
    for missing in [
        "PodDisruptionBudget gateway",
        "NetworkPolicy gateway",
        "NetworkPolicy default-deny",
    ] {
        let mut bad = good.clone();
        bad.remove(missing);
        assert_eq!(broken(surroundings("gateway", &bad)).len(), 1, "{missing}");
    }
}

#[test]
fn routes_have_no_annotations_of_any_implementation() {
    for rendering in ALL.iter() {
        for (name, object) in plain(rendering.objects.clone()) {
            if ["Ingress", "Gateway", "HTTPRoute"].contains(&text(&object["kind"])) {
                let marks = &object["metadata"]["annotations"];
                assert!(marks.is_null(), "{}: {name}: {marks}", rendering.name);
            }
        }
    }
}
