# frozen_string_literal: true

module Bontebok
  # Raised in the thread of a request that takes longer than request_timeout_soft. The C extension defines the same
  # class and raises it. This file is for applications that name the class in a process without the extension: in a
  # console, in tests, or under rackup while the application loads.
  #
  # It is no StandardError, so a `rescue => e` in the application does not catch it.
  class RequestTimeout < Exception # rubocop:disable Lint/InheritException
  end
end
