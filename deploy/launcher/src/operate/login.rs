//! The operator's login: kept for each cluster in a file of its owner.
//!
//! Always: the file has refresh tokens only, and its owner alone may read it.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, IsTerminal, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::Context;
use reqwest::Method;
use serde_json::{Value, json};
use service_runtime::config::ConfigError;

use super::cluster::Cluster;

/// Refresh tokens by the address of the cluster.
type Logins = BTreeMap<String, String>;

/// Logs in, and keeps the login. Returns what to tell.
pub(super) async fn begin(url: &str, name: &str) -> anyhow::Result<String> {
    let cluster = Cluster::stranger(url)?;
    let path = path()?;
    let body = json!({"name": name, "password": password()?});
    let answer = cluster
        .act(Method::POST, "/api/auth/password", Some(body))
        .await?;
    keep(&path, &cluster, &answer)?;
    let roles = answer["account"]["roles"].as_array();
    let roles = roles.into_iter().flatten().filter_map(Value::as_str);
    let roles: Vec<&str> = roles.collect();
    let may = match roles[..] {
        [] => "no role, so that it may ask nothing here".to_owned(),
        _ => format!("the role {}", roles.join(" and ")),
    };
    Ok(format!(
        "{name} is logged in at {} with {may}.\n",
        cluster.url
    ))
}

/// Returns a token of the login that is kept for a cluster, and keeps its next refresh token.
pub(super) async fn renew(cluster: &Cluster) -> anyhow::Result<String> {
    let path = path()?;
    let kept = read(&path)?.remove(cluster.url.as_str());
    let Some(refresh_token) = kept else {
        let why = format!(
            "nobody is logged in at {}: use `tilestead login NAME`, or set TILESTEAD_TOKEN",
            cluster.url
        );
        return Err(ConfigError::new(why).into());
    };
    let body = json!({"refreshToken": refresh_token});
    let answer = cluster
        .act(Method::POST, "/api/auth/renew", Some(body))
        .await?;
    keep(&path, cluster, &answer)?;
    let token = answer["token"].as_str();
    Ok(token.context("an answer without a token")?.to_owned())
}

/// Ends the login, and forgets it. Returns what to tell.
pub(super) async fn end(cluster: &Cluster) -> anyhow::Result<String> {
    cluster.act(Method::POST, "/api/auth/logout", None).await?;
    let path = path()?;
    let mut logins = read(&path)?;
    logins.remove(cluster.url.as_str());
    write(&path, &logins)?;
    Ok(format!("Logged out at {}.\n", cluster.url))
}

/// Reads a password without showing it.
fn password() -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        return rpassword::prompt_password("Password: ").context("read the password");
    }
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.context("read the password from the standard input")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn path() -> anyhow::Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let settings = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let settings = settings.or_else(|| set("HOME").map(|home| Path::new(&home).join(".config")));
    let why = "neither XDG_CONFIG_HOME nor HOME says where a login is kept";
    let settings = settings.ok_or_else(|| ConfigError::new(why.to_owned()))?;
    Ok(settings.join("tilestead").join("logins.json"))
}

fn keep(path: &Path, cluster: &Cluster, answer: &Value) -> anyhow::Result<()> {
    let token = answer["refreshToken"].as_str();
    let token = token.context("an answer without a refresh token")?;
    let mut logins = read(path)?;
    logins.insert(cluster.url.to_string(), token.to_owned());
    write(path, &logins)
}

fn read(path: &Path) -> anyhow::Result<Logins> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Logins::new()),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let broken = || format!("{} is broken; remove it and log in again", path.display());
    serde_json::from_slice(&text).with_context(broken)
}

/// Replaces the file as a whole.
fn write(path: &Path, logins: &Logins) -> anyhow::Result<()> {
    let there = || path.display().to_string();
    let folder = path.parent().with_context(there)?;
    fs::create_dir_all(folder).with_context(there)?;
    let next = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&next)
        .with_context(there)?;
    // A file of the same name may have been there.
    file.set_permissions(fs::Permissions::from_mode(0o600))
        .with_context(there)?;
    file.write_all(&serde_json::to_vec_pretty(logins)?)
        .with_context(there)?;
    fs::rename(&next, path).with_context(there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_kept_for_its_cluster_and_only_its_owner_reads_it() {
        service_runtime::run::install_crypto();
        let folder = std::env::temp_dir().join(format!("tilestead-login-{}", std::process::id()));
        let path = folder.join("tilestead").join("logins.json");
        assert_eq!(read(&path).unwrap(), Logins::new());
        for (url, token) in [("http://a", "1"), ("http://b", "2"), ("http://a", "3")] {
            let cluster = Cluster::stranger(url).unwrap();
            keep(&path, &cluster, &json!({ "refreshToken": token })).unwrap();
        }
        let kept = read(&path).unwrap();
        let kept: Vec<(&str, &str)> = kept.iter().map(|(url, token)| (&**url, &**token)).collect();
        assert_eq!(kept, [("http://a/", "3"), ("http://b/", "2")]);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(&path, "{").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("is broken"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
