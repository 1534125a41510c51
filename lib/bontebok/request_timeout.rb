# frozen_string_literal: true

module Bontebok
  # Raised in the thread of a request that takes longer than RequestTimeoutSoft. The binding has the same class, and
  # raises it; here it is for applications that name it where nobody serves them: in a console, in their own tests,
  # under rackup while they load.
  #
  # No StandardError: `rescue => e` around one step of a request is not meant for the end of all of it.
  class RequestTimeout < Exception # rubocop:disable Lint/InheritException
  end
end
