# frozen_string_literal: true

# What the binding's tests need, but Rack. gemfiles/rack*.gemfile add one version of Rack each; the Gemfile at the root
# has the newest.
source Gem.sources.first.uri.to_s

gemspec path: ".."

gem "minitest", "~> 5.16"
gem "rake"
