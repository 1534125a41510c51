# frozen_string_literal: true

module Support
  class Error < StandardError; end

  # An event that a test waited for did not happen in time. The message says which state was seen instead.
  class Timeout < Error; end
end
