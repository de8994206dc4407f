// The gateway: points the provider of the session's model at the address that the hub names, and back. It is back before
// anything else is done when the hub goes away or the session ends: Pi's next request goes direct.
import type { Link } from "./link.ts";
import { type Json, type Receipt, refused, sent } from "./protocol.ts";
import { safe } from "./safe.ts";
import type { Session } from "./session.ts";
import { causeText } from "./text.ts";

/** A provider as it is pointed, and as it was. */
interface Pointed {
	name: string;
	url: string;
	urls: string[];
	registered: Json | undefined; // by another extension
}

export class Gateway {
	private pointed: Pointed | undefined;

	constructor(
		private session: Session,
		private link: Link,
	) {
		link.onWelcome((answer) => answer.gateway && this.welcomed(answer.gateway.provider, answer.gateway.url));
		link.serve({ gateway: (params) => this.point(params.provider, params.url) });
		link.onLost(() => this.back());
		session.on("session_shutdown", () => this.back());
		session.on("model_select", () => this.tell());
	}

	/** What the hub has to know of the provider of the session's model. */
	get provider(): Json | undefined {
		const model = this.session.ctx.model;
		if (!model) return undefined;
		const name = model.provider;
		return { name, api: model.api, urls: this.pointed?.name === name ? this.pointed.urls : this.urls(name), other: this.otherOwner(name) };
	}

	/** The hub's answer to hello says it before Pi makes its first request. */
	private welcomed(name: string, url: string): void {
		const receipt = this.point(name, url);
		if (receipt.result !== "sent") this.link.tell("provider", { ...this.provider, other: receipt.reason });
	}

	private tell(): void {
		const provider = this.provider;
		if (provider) this.link.tell("provider", provider);
	}

	private get registry(): any {
		return this.session.ctx.modelRegistry;
	}

	/** Each address of its models once. */
	private urls(name: string): string[] {
		const models: any[] = this.registry.getAll();
		return [...new Set(models.filter((m) => m.provider === name && m.baseUrl).map((m): string => m.baseUrl))];
	}

	private point(name: string, url: string): Receipt {
		this.back();
		if (!url) return sent;
		const owner = this.otherOwner(name);
		if (owner) return refused(owner);
		const registered = this.registry.getRegisteredProviderConfig(name);
		this.pointed = { name, url, urls: this.urls(name), registered: registered && { ...registered } };
		try {
			this.session.pi.registerProvider(name, { baseUrl: url });
			if (this.urls(name).every((now) => now === url)) return sent;
		} catch (cause) {
			this.back();
			return refused(`Pi does not take the address: ${causeText(cause)}`);
		}
		this.back();
		return refused("Pi does not take another address for all its models");
	}

	/** Puts the provider back as it was; what another extension has changed since then stays. */
	private back(): void {
		const was = this.pointed;
		this.pointed = undefined;
		if (!was) return;
		safe(() => {
			const { baseUrl, ...rest } = this.registry.getRegisteredProviderConfig(was.name) ?? {};
			if (baseUrl !== was.url) return;
			if (was.registered?.baseUrl) return this.session.pi.registerProvider(was.name, { baseUrl: was.registered.baseUrl });
			this.session.pi.unregisterProvider(was.name);
			if (Object.keys(rest).length > 0) this.session.pi.registerProvider(was.name, rest);
		});
	}

	/** How another extension has taken a provider over; empty when none has. */
	private otherOwner(name: string): string {
		if (this.registry.getRegisteredNativeProvider?.(name)) return "another extension provides it";
		const config = this.registry.getRegisteredProviderConfig(name);
		if (config?.streamSimple) return "another extension makes its requests";
		const ours = this.pointed?.name === name && config?.baseUrl === this.pointed.url;
		if (config?.baseUrl && !ours && isLoopback(config.baseUrl)) return `another extension points it at ${config.baseUrl}`;
		return "";
	}
}

function isLoopback(url: string): boolean {
	try {
		const host = new URL(url).hostname;
		return host === "localhost" || host === "[::1]" || host.startsWith("127.");
	} catch {
		return false;
	}
}
