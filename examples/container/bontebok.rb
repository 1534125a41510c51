# frozen_string_literal: true

# config/bontebok.rb of the image. The environment of the container sets DRAIN_DELAY.
listen "0.0.0.0:8080"
environment "production"
ready_path "/-/ready"
live_path "/-/live"
drain_delay ENV.fetch("DRAIN_DELAY", "0")
graceful_timeout 30
