# frozen_string_literal: true

module Bontebok
  # Raised in the thread of a request that takes longer than RequestTimeoutSoft. The binding has the same class, and
  # raises it. This file is for applications that name the class in a process that does not serve: in a console, in
  # their own tests, under rackup while they load.
  #
  # It is no StandardError: a `rescue => e` around one step of a request is not meant for the end of the whole request.
  class RequestTimeout < Exception # rubocop:disable Lint/InheritException
  end
end
