"""Clients: judges, embeddings and other models behind named endpoints, with a cache of calls."""

from __future__ import annotations

from evaltoolkit.clients.cache import CACHE_VERSION, CallCache, Remembered, call_key
from evaltoolkit.clients.chat import (
    ChatClient,
    ChatModel,
    ChatOptions,
    ChatReply,
    ChatRequest,
    Message,
)
from evaltoolkit.clients.connection import ConnectionOptions
from evaltoolkit.clients.embeddings import Embed, EmbeddingClient
from evaltoolkit.clients.endpoints import Endpoint, check_endpoint
from evaltoolkit.clients.failures import CallError
from evaltoolkit.clients.retrying import Retries

__all__ = [
    "CACHE_VERSION",
    "CallCache",
    "CallError",
    "ChatClient",
    "ChatModel",
    "ChatOptions",
    "ChatReply",
    "ChatRequest",
    "ConnectionOptions",
    "Embed",
    "EmbeddingClient",
    "Endpoint",
    "Message",
    "Remembered",
    "Retries",
    "call_key",
    "check_endpoint",
]
