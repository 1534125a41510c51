# frozen_string_literal: true

require_relative "../option"
require_relative "../option_values"

module Bontebok
  module OptionTable
    # The options of request bodies and of responses.
    module Bodies
      include OptionValues

      TITLE = "Bodies and responses"

      OPTIONS = [
        Option.new("spool_threshold", SIZE, 1 << 20,
                   "Maximum size of a body in memory. A longer request body goes to a file in spool_dir. If a client " \
                   "is too slow for a response, the thread serves the next request; this size of the unsent bytes " \
                   "stays in memory, and the rest goes to a file. The unsent bytes of all connections of a worker " \
                   "together may use 64 times this size of memory. If they use more, all unsent bytes go to files.",
                   section: TITLE, core: true),
        Option.new("spool_dir", DIRECTORY, "/tmp",
                   "Directory for files with bodies (spool_threshold). The directory should be on a disk, not in " \
                   "memory. If the option is set, the environment variable TMPDIR gets the same value, for Rack's " \
                   "own temporary files. If TMPDIR cannot be written to, both are /tmp or /var/tmp, and the log has " \
                   "a warning.",
                   section: TITLE, environment_variables: ["TMPDIR"]),
        Option.new("spool_max", SIZE, 1 << 30,
                   "Maximum size of the bodies that a worker holds. The limit counts all request bodies, and the " \
                   "responses that are in spool_dir. If there is no space for a request body, the client gets 507. " \
                   "Responses may use three quarters of this size. If there is no space for a response, the thread " \
                   "that sends it waits for the client. If other requests wait for a thread, at most half of the " \
                   "server's threads may wait for clients. If more threads wait, the connections of the slowest " \
                   "clients are reset. If the server has only one thread, the client is reset after other requests " \
                   "have waited for 1 s. 0: no limit.",
                   section: TITLE, core: true),
        Option.new("unbuffered_bodies", OptionTypes::Paths.new(1023), [].freeze,
                   "Paths whose request bodies the application reads itself. The application is called when the head " \
                   "of the request has arrived, and it reads the body from rack.input while the body arrives. A path " \
                   "that ends with / also stands for all paths below it; / stands for all paths. A thread waits " \
                   "while a client sends slowly, so use this option only for the paths that need it. none: the " \
                   "application is called when the whole body has arrived.",
                   section: TITLE),
        Option.new("chunked_transfer", SWITCH, true,
                   "Send responses of unknown length in chunks. Only HTTP/1.1 clients get chunks. Without chunks, " \
                   "the server closes the connection at the end of the response.",
                   section: TITLE, core: true),
        Option.new("x_sendfile", OptionTypes::SendfilePlaces.new, [].freeze,
                   "Directories of files for X-Sendfile. The server sends these files itself. The application names " \
                   "a file in this field of its response, and the file must be below one of these directories. An " \
                   "entry /uri=DIR is for X-Accel-Redirect: /uri at the beginning of the field's value stands for " \
                   "DIR. The field is not sent. If the file is missing or elsewhere, the client gets 404. If the " \
                   "server may not read it, the client gets 403. none: the server sends both fields, for a proxy.",
                   section: TITLE),
        Option.new("public", OptionTypes::Directories.new(4095), [].freeze,
                   "Directory with files that the server sends itself. For GET and HEAD, the server looks below the " \
                   "directory for /path, /path.html and /path/index.html; if there is none, the application gets the " \
                   "request. A file beside it, such as app.js.br or app.js.gz, is sent to clients that accept it. " \
                   "The directory is opened before the application is loaded: a release serves its own files to its " \
                   "end, also when a link in the name of the directory changes. The option may be given several " \
                   "times; the first directory that has a file counts. none: the server sends no files.",
                   section: TITLE, repeated: true),
        Option.new("public_headers", OptionTypes::PathFields.new(4095), [].freeze,
                   "Field of responses with files of public. For example, `/assets/ Cache-Control: public, " \
                   "max-age=31536000, immutable` is for all paths that begin with /assets/. If several prefixes of a " \
                   "path have the same field, the longest one counts. The option may be given several times.",
                   section: TITLE, repeated: true),
        Option.new("early_hints", SWITCH, false,
                   "Let the application send 103 Early Hints. env has `rack.early_hints`. A proxy in front must know " \
                   "interim responses: nginx before 1.29 does not.",
                   section: TITLE),
        Option.new("frozen_env", SWITCH, false,
                   "Share frozen values of env between requests. A value that is the same in many requests is " \
                   "created once. This is faster, but the application must not change a string in env.",
                   section: TITLE),
        Option.new("server", PRODUCT, "",
                   "Value of the field Server in responses. Empty: responses have no such field.",
                   section: TITLE)
      ].freeze
    end
  end
end
