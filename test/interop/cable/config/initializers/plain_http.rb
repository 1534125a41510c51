# frozen_string_literal: true

# The browser connects without TLS.
Rails.application.config.assume_ssl = false
Rails.application.config.force_ssl = false
